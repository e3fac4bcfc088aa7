// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/stream_reading.h"

#include <torch/utils.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/pairs/pair_map_tensor.h"
#include "data/batches.h"
#include "evaluate/scoring.h"
#include "model/served/served_options.h"
#include "types/error.h"
#include "types/option_groups.h"

namespace relascope::core {
namespace {

constexpr const char *kBefore = ".hook_resid_pre", *kAfter = ".hook_resid_post";
constexpr std::int64_t kFittedBatch = 50, kFittedWindows = 8;
constexpr std::int64_t kFittedBytes = 1 << 28;  // of what is read of a batch
constexpr std::int64_t kMostTokens = 256;       // that one-hot vectors tell apart

bool ofObjects(const PointInfo& point, const PairObjects& objects) {
    const int position = point.dimension("position");
    return position >= 0 && point.dimension("dim") >= 0 &&
           point.shape[static_cast<std::size_t>(position)] >= objects.whole &&
           !point.name.starts_with("decoder.");
}

std::vector<std::int64_t> slice(const std::vector<std::int64_t>& all, std::size_t first,
                                std::int64_t count) {
    const auto end = std::min(all.size(), first + static_cast<std::size_t>(count));
    return {all.begin() + static_cast<std::ptrdiff_t>(first),
            all.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// The rows of objects of examples `first` to `end`: their numbers, and where they stand.
struct BatchRows {
    std::int64_t begin = 0, end = 0;
    torch::Tensor example, position;  // of the batch, along the map

    BatchRows(const FactSubject& subject, const ObjectRows& rows, std::size_t first,
              std::size_t last) {
        const auto* examples = rows.example.const_data_ptr<std::int64_t>();
        const auto* objects = rows.object.const_data_ptr<std::int64_t>();
        const auto* stop = examples + rows.size();
        begin = std::lower_bound(examples, stop, static_cast<std::int64_t>(first)) - examples;
        end = std::lower_bound(examples, stop, static_cast<std::int64_t>(last)) - examples;
        std::vector<std::int64_t> places;
        for (auto r = begin; r < end; ++r)
            places.push_back(positionOf(subject.objects(), static_cast<std::size_t>(examples[r]),
                                        static_cast<std::size_t>(objects[r])));
        example = rows.example.slice(0, begin, end) - static_cast<std::int64_t>(first);
        position = torch::tensor(places, torch::kLong);
    }
    torch::Tensor of(const torch::Tensor& tensor) const {
        return tensor.to(torch::kCPU).index({example, position}).to(torch::kFloat);
    }
};

/// What the examples of a batch give the model for each object, [b, objects, k].
torch::Tensor inputsOf(const Batch& batch, const FactSubject& subject, const ModelOptions& model) {
    if (const auto* images = model.find<ImageInput>()) {
        const auto high = images->patch_size[1], wide = images->patch_size[0];
        const auto patches = batch.inputs.unfold(2, high, high).unfold(3, wide, wide);
        return patches
            .permute({0, 2, 3, 1, 4, 5})  // [b, rows, columns, c, y, x]
            .reshape({batch.inputs.size(0), images->patches(), -1});
    }
    const auto& objects = subject.objects();
    if (batch.inputs.dim() == 3) return batch.inputs;
    return batch.inputs.slice(1, 0, objects.whole).unsqueeze(-1);  // tokens
}

/// Tokens [rows, 1] as one-hot vectors of the most frequent ones.
torch::Tensor oneHot(const torch::Tensor& tokens) {
    const auto [values, inverse, counts] = torch::_unique2(tokens.flatten(), true, true, true);
    const auto order = counts.argsort(0, true).slice(0, 0, kMostTokens);
    auto place = torch::full({values.size(0)}, order.size(0), torch::kLong);
    place.index_put_({order}, torch::arange(order.size(0)));
    return torch::one_hot(place.index_select(0, inverse), order.size(0) + 1)
        .slice(1, 0, order.size(0))
        .to(torch::kFloat);
}

}  // namespace

StreamPlan streamPlan(EditedModel& model, const FactSubject& subject) {
    const auto& objects = subject.objects();
    const auto batch = makeBatch(subject.data(), objects.examples.data(), 1);
    const auto points = model.points(batch);
    StreamPlan plan;
    plan.batch = objects.starts.empty() ? kFittedBatch : kFittedWindows;
    std::string last;
    int layer = 0;
    std::int64_t width = 0;
    for (const auto& point : points) {
        if (!ofObjects(point, objects)) continue;
        width = point.shape[static_cast<std::size_t>(point.dimension("dim"))];
        if (point.name.ends_with(kBefore)) {
            const auto title =
                layer == 0 ? std::string("before layer 1") : "after layer " + std::to_string(layer);
            plan.streams.push_back({point.name, title, width});
            ++layer;
        } else if (point.name.ends_with(kAfter)) {
            last = point.name;
        }
    }
    if (plan.streams.empty())
        throw OptionError("path",
                          "the model has no stream with a vector for each object, which a relation "
                          "could be fitted to");
    if (!last.empty())
        plan.streams.push_back({last, "after layer " + std::to_string(layer), width});
    plan.maps = pairMaps(points, objects.whole, true, true);
    for (auto& map : plan.maps) {
        if (!map.head) continue;
        const std::string pattern = ".hook_pattern";
        if (std::find(plan.patterns.begin(), plan.patterns.end(), map.point) == plan.patterns.end())
            plan.patterns.push_back(map.point);
        const auto scores =
            map.point.substr(0, map.point.size() - pattern.size()) + ".hook_attn_scores";
        if (std::any_of(points.begin(), points.end(),
                        [&](const auto& point) { return point.name == scores; }))
            map.point = scores;
    }
    std::int64_t bytes = 0;  // of an example
    for (const auto& point : points) {
        const auto named = [&](const auto& one) { return one.point == point.name; };
        if (point.name != last && !point.name.ends_with(kBefore) &&
            std::find(plan.patterns.begin(), plan.patterns.end(), point.name) ==
                plan.patterns.end() &&
            std::none_of(plan.maps.begin(), plan.maps.end(), named))
            continue;
        bytes += std::accumulate(point.shape.begin(), point.shape.end(),
                                 static_cast<std::int64_t>(sizeof(float)), std::multiplies<>());
    }
    plan.batch =
        std::clamp<std::int64_t>(kFittedBytes / std::max<std::int64_t>(1, bytes), 1, plan.batch);
    return plan;
}

StreamsRead readStreams(EditedModel& model, const FactSubject& subject, const ObjectRows& rows,
                        const StreamPlan& plan, const ReadWhat& what,
                        const std::function<bool(double)>& progress) {
    const auto& objects = subject.objects();
    const auto total = objects.examples.size();
    std::vector<std::string> names;
    for (const auto index : what.streams) names.push_back(plan.streams[index].name);
    if (what.pairs)
        for (const auto& map : plan.maps) names.push_back(map.point);
    if (what.attention) names.insert(names.end(), plan.patterns.begin(), plan.patterns.end());
    std::vector<std::vector<torch::Tensor>> maps(what.pairs ? plan.maps.size() : 0);
    std::vector<torch::Tensor> inputs;
    // The inputs of a served model stay with its process, but for tokens.
    const bool readsInput =
        what.input && (!isServed(model.options()) || model.options().find<TokenInput>());
    StreamsRead read;
    for (const auto index : what.streams)
        read.streams.push_back(torch::empty({rows.size(), plan.streams[index].width}));
    std::size_t nextPair = 0;
    for (std::size_t first = 0; first < total; first += static_cast<std::size_t>(plan.batch)) {
        const auto indices = slice(objects.examples, first, plan.batch);
        const auto last = first + indices.size();
        const BatchRows batchRows(subject, rows, first, last);
        const auto batch = makeBatch(subject.data(), indices.data(), std::ssize(indices));
        PointReader reader(names);
        model.answers(batch, subject.dataPtr(), indices, names.empty() ? nullptr : &reader);
        for (std::size_t k = 0; k < what.streams.size(); ++k)
            read.streams[k]
                .slice(0, batchRows.begin, batchRows.end)
                .copy_(batchRows.of(reader.tensors().at(plan.streams[what.streams[k]].name)));
        if (readsInput)
            // Patches have no class token before them; tokens stand where they are in the text.
            inputs.push_back(inputsOf(batch, subject, model.options())
                                 .index({batchRows.example,
                                         objects.starts.empty()
                                             ? rows.object.slice(0, batchRows.begin, batchRows.end)
                                             : batchRows.position}));
        if (what.pairs) {
            std::vector<std::int64_t> e, i, j;
            for (; nextPair < what.pairs->size() &&
                   static_cast<std::size_t>(what.pairs->example[nextPair]) < last;
                 ++nextPair) {
                const auto example = static_cast<std::size_t>(what.pairs->example[nextPair]);
                const auto at = [&](std::int32_t object) {
                    return positionOf(objects, example, static_cast<std::size_t>(object));
                };
                e.push_back(static_cast<std::int64_t>(example - first));
                i.push_back(at(what.pairs->i[nextPair])), j.push_back(at(what.pairs->j[nextPair]));
            }
            const auto te = torch::tensor(e, torch::kLong), ti = torch::tensor(i, torch::kLong),
                       tj = torch::tensor(j, torch::kLong);
            for (std::size_t m = 0; m < plan.maps.size(); ++m) {
                const auto map = mapOf(reader, plan.maps[m]).to(torch::kCPU);
                auto values = map.index({te, ti, tj});
                if (what.symmetric) values = values + map.index({te, tj, ti});
                maps[m].push_back(values);
            }
        }
        if (what.attention)
            for (const auto& pattern : plan.patterns)
                what.attention->add(pattern, static_cast<std::int64_t>(first),
                                    reader.tensors().at(pattern).to(torch::kCPU));
        if (progress && !progress(static_cast<double>(last) / static_cast<double>(total)))
            throw Cancelled();
    }
    for (auto& parts : maps) read.maps.push_back(torch::cat(parts));
    if (readsInput) {
        read.input = torch::cat(inputs);
        if (!read.input.is_floating_point()) read.input = oneHot(read.input);
    }
    return read;
}

ExampleScores testScores(EditedModel& model, const FactSubject& subject, const StreamPlan& plan,
                         Hooks* edit) {
    std::vector<std::int64_t> test;
    for (std::size_t e = 0; e < subject.pairs().examples; ++e)
        if (subject.pairs().split[e] == kToTest) test.push_back(subject.objects().examples[e]);
    ExampleScores scores;
    const auto ignored = model.options().ignoredTarget();
    for (std::size_t first = 0; first < test.size();
         first += static_cast<std::size_t>(plan.batch)) {
        const auto indices = slice(test, first, plan.batch);
        const auto batch = makeBatch(subject.data(), indices.data(), std::ssize(indices));
        requireLabels(batch, model.options().outputs(), ignored);
        scores.add(model.answers(batch, subject.dataPtr(), indices, edit), batch, ignored);
    }
    return scores;
}

}  // namespace relascope::core
