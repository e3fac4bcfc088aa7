// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/nearest/nearest.h"

#include <torch/utils.h>

#include <algorithm>
#include <map>

#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "interventions/active_edits.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kPicturesAtOnce = 32;

/// The features of pictures, each of length 1: [n, d] double on the CPU. `labels` gets the class of
/// each, -1 without one.
torch::Tensor unitFeatures(AnalysisSubject& subject, const std::vector<std::int64_t>& order,
                           std::vector<std::int64_t>& labels, const Watch<Answer>& watch) {
    const auto model = subject.model->edited(subject.interventions);
    std::vector<torch::Tensor> all;
    for (std::size_t first = 0; first < order.size(); first += kPicturesAtOnce) {
        if (watch.stop.stop_requested() ||
            (watch.progress &&
             !watch.progress(static_cast<double>(first) / static_cast<double>(order.size()))))
            throw Cancelled();
        const auto count =
            std::min(static_cast<std::size_t>(kPicturesAtOnce), order.size() - first);
        const auto batch =
            makeBatch(*subject.data, order.data() + first, static_cast<std::int64_t>(count));
        const std::vector<std::int64_t> indices(
            order.begin() + static_cast<std::ptrdiff_t>(first),
            order.begin() + static_cast<std::ptrdiff_t>(first + count));
        const auto features = model->answers(batch, subject.data, indices);
        all.push_back(features.detach().to(torch::kCPU, torch::kDouble));
        for (const auto example : indices) labels.push_back(subject.data->sample(example).label);
    }
    const auto features = torch::cat(all);
    const auto lengths = features.norm(2, 1, true);
    if (!features.isfinite().all().item<bool>() || lengths.min().item<double>() == 0.0)
        throw Error("features are not finite, or all of them 0, on some of these pictures");
    return features / lengths;
}

Answer runNearest(AnalysisSubject& subject, const NearestOptions& options,
                  const Watch<Answer>& watch) {
    const auto& model = subject.model->options();
    if (model.input() != InputKind::Images || !answersNumbers(model))
        throw OptionError("path", modelTitle(model) +
                                      " answers with classes; nearest pictures are of models of "
                                      "images whose answer are features, without a head");
    if (!subject.data || subject.data->size() < 2)
        throw OptionError("data", "contains fewer than two pictures");
    if (options.example >= subject.data->size())
        throw OptionError("example", std::to_string(options.example) + " is beyond the split's " +
                                         std::to_string(subject.data->size()) + " pictures");
    auto order = drawnExamples(subject.data->size(), options.examples, 0);
    std::sort(order.begin(), order.end());
    if (!std::binary_search(order.begin(), order.end(), options.example))
        order.push_back(options.example);
    std::vector<std::int64_t> labels;
    const auto features = unitFeatures(subject, order, labels, watch);
    const auto n = features.size(0);
    auto cosines = torch::matmul(features, features.t());
    cosines.fill_diagonal_(-2.0);  // none is its own neighbour
    const auto nearest = cosines.argmax(1);
    std::int64_t known = 0, same = 0;
    std::map<std::int64_t, double> counts;
    for (std::int64_t k = 0; k < n; ++k) {
        const auto label = labels[static_cast<std::size_t>(k)];
        if (label < 0) continue;
        ++known, ++counts[label];
        same += labels[static_cast<std::size_t>(nearest[k].item<std::int64_t>())] == label;
    }
    double chance = 0.0;
    for (const auto& [label, count] : counts)
        chance += count * (count - 1.0) / (static_cast<double>(known) * static_cast<double>(n - 1));
    auto answer = emptyNearest();
    addRow(answer, "", n, features.size(1),
           known > 0 ? static_cast<double>(same) / static_cast<double>(known) : columns::kNone,
           known > 0 ? chance : columns::kNone);
    const auto at = std::find(order.begin(), order.end(), options.example) - order.begin();
    const auto [values, places] = cosines[at].topk(std::min(options.top, n - 1));
    const auto& names = subject.data->info().classNames;
    const auto add = [&](std::int64_t rank, std::int64_t place, double cosine) {
        const auto example = order[static_cast<std::size_t>(place)];
        const auto label = labels[static_cast<std::size_t>(place)];
        const bool named = label >= 0 && label < std::ssize(names);
        addRow(answer, "nearest", rank, std::ssize(answer.pictures), example,
               named ? names[static_cast<std::size_t>(label)] : std::string(), cosine);
        answer.pictures.push_back(subject.data->sample(example).image);
    };
    add(0, at, 1.0);
    for (std::int64_t k = 0; k < values.size(0); ++k)
        add(k + 1, places[k].item<std::int64_t>(), values[k].item<double>());
    return answer;
}

}  // namespace

const RegisterRunner kNearestRunner("nearest",
                                    [] { return makeRunner(nearestFields(), runNearest); });

}  // namespace relascope::core
