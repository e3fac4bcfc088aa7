// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/pair_reading.h"

#include <ATen/Context.h>
#include <torch/utils.h>
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "analysis/open_model.h"
#include "analysis/pairs/pair_map_tensor.h"
#include "analysis/parts/part_rows.h"
#include "data/batches.h"
#include "evaluate/example_scores.h"
#include "interventions/active_edits.h"
#include "model/attention/relational_attention.h"
#include "model/finite_outputs.h"
#include "model/model.h"
#include "model/served/served_model.h"
#include "model/served/served_options.h"
#include "train/devices.h"
#include "types/error.h"

namespace relascope::core {
namespace {

std::string moduleOf(const std::string& point) {
    return point.substr(0, point.rfind('.'));
}

// The layer of a part: "layer 2 relation 1" -> "layer 2", "layer 2 sensory head 1" -> "layer 2".
std::string layerName(const std::string& part) {
    for (const char* word : {" relation ", " sensory head ", " relational head ", " head "})
        if (const auto at = part.find(word); at != std::string::npos) return part.substr(0, at);
    return part;
}

const PointInfo* pointNamed(const std::vector<PointInfo>& points, const std::string& name) {
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&](const PointInfo& one) { return one.name == name; });
    return found == points.end() ? nullptr : &*found;
}

bool ofPairs(const PointInfo& point, std::int64_t positions) {
    const auto is = [&](const char* axis) {
        const int d = point.dimension(axis);
        return d >= 0 && point.shape[static_cast<std::size_t>(d)] == positions;
    };
    return is("i") && is("j");
}

struct Projections {
    torch::Tensor query, key;
};

// Projections of relations, layer by layer, in the order of the forward pass.
std::vector<Projections> projectionsOf(ModelImpl& model) {
    std::map<std::string, torch::Tensor> byName;
    const auto state = stateOf(model);
    for (const auto& entry : state) byName[entry.name] = entry.tensor;
    std::vector<Projections> all;
    const std::string end = "wq_rel.weight";
    for (const auto& entry : state)
        if (entry.aliasOf.empty() && entry.name.ends_with(end)) {
            const auto key =
                byName.find(entry.name.substr(0, entry.name.size() - end.size()) + "wk_rel.weight");
            all.push_back({entry.tensor, key == byName.end() ? entry.tensor : key->second});
        }
    return all;
}

std::vector<double> rowsOf(const torch::Tensor& weight, std::int64_t index, std::int64_t width) {
    const auto rows = weight.detach()
                          .narrow(0, index * width, width)
                          .to(torch::kCPU, torch::kDouble)
                          .contiguous();
    const double* data = rows.const_data_ptr<double>();
    return {data, data + rows.numel()};
}

std::vector<WeightMatrixFacts> weightFactsOf(ModelImpl& model, const std::vector<PairMap>& maps) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<WeightMatrixFacts> facts(maps.size(), {unknown, unknown});
    const auto projections = projectionsOf(model);
    for (std::size_t m = 0; m < maps.size(); ++m) {
        const auto& map = maps[m];
        // Not all maps of the model may be there, but its projections are.
        if (map.head || std::ssize(projections) != map.places) continue;
        const auto& [query, key] = projections[static_cast<std::size_t>(map.place)];
        if (query.dim() != 2 || query.size(0) % map.count != 0 || key.sizes() != query.sizes())
            continue;
        const std::int64_t width = query.size(0) / map.count, d = query.size(1);
        facts[m] = weightMatrixFacts(rowsOf(query, map.index, width), rowsOf(key, map.index, width),
                                     static_cast<std::size_t>(width), static_cast<std::size_t>(d));
    }
    return facts;
}

// A map with its receivers along the rows.
torch::Tensor turned(torch::Tensor one, const PointInfo& point) {
    return point.dimension("i") > point.dimension("j") ? one.transpose(1, 2) : one;
}

struct ReadTensor {
    const torch::Tensor& tensor;
    const PointInfo& point;
};
ReadTensor readAt(const PointReader& reader, const std::string& name) {
    const auto found = reader.tensors().find(name);
    const auto* point = pointNamed(reader.points(), name);
    if (found == reader.tensors().end() || !point)
        throw Error("The forward pass did not meet " + name + ".");
    return {found->second, *point};
}

/// Keeps only the block of each example of maps over a text, so that complete maps exist for one
/// layer at a time. Without `starts` it keeps complete maps.
class BlockReader : public PointReader {
public:
    BlockReader(std::vector<std::string> names, const PairReading& what, std::int64_t first)
        : PointReader(std::move(names)), m_what(what), m_first(first) {}

    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        const auto dimension = [&](Axis axis) {
            return std::find(point.axes.begin(), point.axes.end(), axis) - point.axes.begin();
        };
        const auto i = dimension(Axis::I), j = dimension(Axis::J), all = value.dim();
        const auto n = static_cast<std::int64_t>(m_what.shape.objects);
        std::vector<torch::Tensor> blocks, firsts;
        if (!m_what.starts.empty() && i < all && j < all)
            for (std::int64_t e = 0; e < value.size(0); ++e) {
                const auto start = m_what.starts.at(static_cast<std::size_t>(m_first + e));
                const auto rows = value.narrow(0, e, 1).narrow(i, start, n);
                blocks.push_back(rows.narrow(j, start, n));
                const std::int64_t own = start == 0 ? 1 : 0;  // the first token as a receiver
                firsts.push_back(rows.narrow(i, own, n - own)
                                     .select(j, 0)
                                     .mean(i < j ? i : i - 1));  // [1, maps]
            }
        PointReader::at(point, blocks.empty() ? value : torch::cat(blocks));
        if (!firsts.empty()) m_firsts[point.name] = torch::cat(firsts).mean(0);
        return value;
    }
    /// The mean value, over the examples and the receivers of their blocks, towards the first
    /// token.
    double towardsFirst(const PairMap& map) const {
        const auto found = m_firsts.find(map.point);
        return found == m_firsts.end() || found->second.dim() != 1
                   ? std::numeric_limits<double>::quiet_NaN()
                   : found->second[map.index].item<double>();
    }

private:
    std::map<std::string, torch::Tensor> m_firsts;  // by point, of each map
    const PairReading& m_what;
    std::int64_t m_first;
};

torch::Tensor attentionOf(const PointReader& reader, const PairMap& map) {
    const auto [tensor, point] = readAt(reader, map.pattern);
    return turned(tensor.mean(point.dimension("head")), point);
}

// The objects of a batch of maps, into out [b, n, n].
void copyObjects(const torch::Tensor& maps, const PairReading& what, float* out) {
    const auto n = static_cast<std::int64_t>(what.shape.objects);
    const auto whole = maps.to(torch::kCPU, torch::kFloat);
    const auto into = torch::from_blob(out, {whole.size(0), n, n});
    if (what.positions.empty()) {
        into.copy_(whole);
        return;
    }
    const auto positions = torch::tensor(what.positions);
    into.copy_(whole.index_select(1, positions).index_select(2, positions));
}

}  // namespace

torch::Tensor mapOf(const PointReader& reader, const PairMap& map) {
    const auto [tensor, point] = readAt(reader, map.point);
    return turned(tensor.select(point.dimension(map.axis), map.index), point);
}

std::vector<PairMap> pairMaps(const std::vector<PointInfo>& points, std::int64_t positions,
                              bool relations, bool heads) {
    std::vector<PairMap> maps;
    std::vector<std::string> what;
    if (relations) what.emplace_back("relations");
    if (heads) what.emplace_back("heads");
    std::set<std::pair<std::string, std::int64_t>> taken;
    for (const auto& row : partRows(points, what)) {
        PairMap map;
        map.name = row.part;
        map.layer = layerName(row.part);
        map.edit = row.edit;
        map.head = row.group == "heads";
        const auto module = moduleOf(row.edit.point);
        map.point = map.head ? module + ".hook_pattern" : row.edit.point;
        map.axis = map.point.ends_with(".hook_pattern") ? "head" : "relation";
        const auto place = row.edit.selection.find(map.axis);
        const auto* point = pointNamed(points, map.point);
        if (module.starts_with("decoder.") || !point || !ofPairs(*point, positions) ||
            place == row.edit.selection.end() || point->dimension(map.axis) < 0)
            continue;
        map.index = place->second.places.at(0);
        map.count = point->shape[static_cast<std::size_t>(point->dimension(map.axis))];
        map.causal = point->causal;
        if (const auto pattern = module + ".hook_pattern";
            map.axis == "relation" && pointNamed(points, pattern))
            map.pattern = pattern;
        // Relational cross-attention: the pattern of a head is a relation already.
        if (!taken.emplace(map.point, map.index).second) continue;
        const auto group = map.head ? moduleOf(module) + ".hook_attn_out" : module + ".hook_z_rel";
        if (pointNamed(points, group)) map.group = group;
        maps.push_back(std::move(map));
    }
    std::vector<std::string> places;
    for (auto& map : maps) {
        if (map.head) continue;
        if (places.empty() || places.back() != map.point) places.push_back(map.point);
        map.place = std::ssize(places) - 1;
    }
    for (auto& map : maps) map.places = std::ssize(places);
    return maps;
}

PairReadings readPairs(ModelImpl& model, const ModelOptions& options, const DatasetPtr& data,
                       const Interventions& interventions, const PairReading& what,
                       const std::stop_token& stop, const ProgressCallback& progress,
                       const std::function<void(const PairReadings&, std::int64_t)>& partial) {
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    const auto device = model.device();
    PairReadings readings;
    if (what.weights) readings.weights = weightFactsOf(model, what.maps);
    readings.values.resize(what.maps.size());
    readings.sent.resize(what.maps.size());
    readings.first.assign(what.maps.size(), 0.0);
    std::set<std::string> names;
    for (std::size_t m = 0; m < what.maps.size(); ++m) {
        const auto& map = what.maps[m];
        names.insert(map.point);
        readings.values[m].resize(what.shape.values());
        if (!what.sent || map.pattern.empty()) continue;
        names.insert(map.pattern);
        readings.sent[m].resize(what.shape.values());
    }
    std::unique_ptr<ActiveEdits> session;
    if (interventions.edits.anyEnabled())
        session =
            std::make_unique<ActiveEdits>(model, options, interventions.edits, interventions.data);
    ExampleScores scores;
    const auto total = static_cast<std::int64_t>(what.examples.size());
    const std::size_t cells = what.shape.cells();
    for (std::int64_t first = 0; first < total; first += what.batchSize) {
        const auto count = std::min(what.batchSize, total - first);
        const std::vector<std::int64_t> indices(what.examples.begin() + first,
                                                what.examples.begin() + first + count);
        const auto batch = makeBatch(*data, indices.data(), count);
        const auto input = inputOf(batch, device);
        if (session) session->prepareBatch(input, data, indices);
        BlockReader reader({names.begin(), names.end()}, what, first);
        {
            std::optional<InterventionScope> edited;
            if (session) edited.emplace(&session->editor());
            const InterventionScope reading(&reader);
            const auto answers = answersOf(model, input);
            if (what.answers) scores.add(answers, batch, options.ignoredTarget());
        }
        for (std::size_t m = 0; m < what.maps.size(); ++m) {
            const auto& map = what.maps[m];
            const auto values = mapOf(reader, map);
            float* to = readings.values[m].data() + static_cast<std::size_t>(first) * cells;
            copyObjects(values, what, to);
            readings.first[m] +=
                reader.towardsFirst(map) * static_cast<double>(count) / static_cast<double>(total);
            if (!readings.sent[m].empty())
                copyObjects(values * attentionOf(reader, map), what,
                            readings.sent[m].data() + static_cast<std::size_t>(first) * cells);
            if (!std::all_of(to, to + static_cast<std::size_t>(count) * cells,
                             [](float v) { return std::isfinite(v); }))
                throw OptionError("path", map.name + " has values that are not finite, from " +
                                              data->info().name + " " +
                                              std::to_string(indices.front()) +
                                              " on; look at an earlier step");
        }
        if (stop.stop_requested() || (progress && !progress(static_cast<double>(first + count) /
                                                            static_cast<double>(total))))
            throw Cancelled();
        if (partial) partial(readings, first + count);
    }
    double right = 0.0, targets = 0.0;
    for (std::size_t e = 0; e < scores.accuracy.size(); ++e)
        right += scores.accuracy[e] * scores.targets[e], targets += scores.targets[e];
    readings.accuracy = targets > 0 ? right / targets : std::numeric_limits<double>::quiet_NaN();
    return readings;
}

std::shared_ptr<ModelImpl> untrainedModel(const ModelOptions& options, const std::string& init,
                                          std::uint64_t seed) {
    if (isServed(options)) return servedModel(options, {{}, {}, seed});
    // The weights come from torch's generator, whose state belongs to other code.
    auto generator = at::globalContext().defaultGenerator(at::kCPU);
    const auto state = generator.get_state();
    ModelPtr model;
    try {
        torch::manual_seed(seed);
        model = makeModel(options);
        if (init == "may-2024") initRelationsAsMay2024(*model);
    } catch (...) {
        generator.set_state(state);
        throw;
    }
    generator.set_state(state);
    return model;
}

std::shared_ptr<ModelImpl> untrainedTwin(const OpenedModel& model, std::uint64_t seed,
                                         const std::string& device) {
    auto fresh = untrainedModel(model.options(),
                                model.isRun() ? model.run().train.init : std::string(), seed);
    fresh->to(torch::Device(resolveDevice(device)));
    model.fitHead(*fresh);
    return fresh;
}

}  // namespace relascope::core
