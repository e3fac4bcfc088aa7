// SPDX-License-Identifier: GPL-3.0-or-later
#include <malloc.h>
#include <torch/utils.h>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include "bench/benchmark_parts.h"
#include "bench/inspect_benchmark.h"
#include "files/memory.h"
#include "model/blocks/parameters.h"
#include "model/language/language_options.h"
#include "options/estimates.h"
#include "options/presets.h"
#include "probe/map_factors.h"
#include "probe/probe.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class Work>
double best(int times, Work work) {
    double least = 1e30;
    for (int i = 0; i < times; ++i) {
        const auto start = Clock::now();
        work();
        least = std::min(least, since(start));
    }
    return least;
}

struct InspectSubject {
    ModelOptions model;
    std::int64_t tokens;
};

InspectSubject subjectOf(const std::string& name) {
    auto published = presetOptions("lm-343m", "dat").model;
    if (name == "inspect_343m_1024") return {published, 1024};
    auto& m = published.get<DualAttnTransformerLMOptions>();
    m.d_model = 768, m.dff = 3072, m.n_heads_sa = m.n_heads_ra = 6;
    m.sa_n_kv_heads = m.ra_n_kv_heads = 6, m.n_relations = 12;
    m.n_layers = 12, m.max_block_size = 512;
    if (name == "inspect_12x12_512") return {published, 512};
    m.d_model = 256, m.dff = 512, m.n_heads_sa = m.n_heads_ra = 4;
    m.sa_n_kv_heads = m.ra_n_kv_heads = 4, m.n_relations = 8;
    m.n_layers = 2, m.max_block_size = 4096;
    if (name == "inspect_4096") return {published, 4096};
    throw OptionError("bench", unknownName("benchmark", name, inspectBenchmarkNames()));
}

ModelPtr randomModel(const ModelOptions& options) {
    const ParameterScope scope(ParameterFill::Uninitialised);
    auto model = makeModel(options);
    const torch::NoGradGuard noGrad;
    torch::manual_seed(0);
    for (auto& p : model->parameters()) p.dim() < 2 ? p.fill_(1.0) : p.normal_(0.0, 0.02);
    model->eval();
    return model;
}

double factorMb(const ProbeResult& result) {
    std::uint64_t floats = 0;
    std::set<const void*> counted;
    for (const auto& map : result.maps) {
        floats += map.values.size();
        const auto* made = dynamic_cast<const FactoredMaps*>(map.source.get());
        if (!made || !counted.insert(made).second) continue;
        floats += made->factors().queries.size();
        if (counted.insert(made->factors().keys.get()).second)
            floats += made->factors().keys->size();
    }
    return static_cast<double>(4 * floats) / 1048576.0;
}

// From the request to the values of the first relation of that layer.
double firstMapMs(ModelImpl& model, const InspectSubject& subject, const ProbeSample& sample,
                  int layer) {
    const auto start = Clock::now();
    double time = 0.0;
    ProbeWatch watch;
    watch.shownLayer = layer;
    watch.partial = [&](const ProbeResult& part) {
        if (time > 0.0) return;
        part.find(MapKind::Relation, layer, 0)->all();
        time = since(start);
    };
    watch.progress = [&](double) { return time == 0.0; };  // the rest is of no interest
    try {
        probeModel(model, subject.model, sample, 0, {}, watch);
    } catch (const Cancelled&) {
    }
    return time;
}

// One cell of every map of a layer, as the footer of the inspector shows them.
void readCell(const ProbeResult& result, int layer, int row, int column) {
    for (const auto& map : result.maps)
        if (map.layer == layer && map.kind != MapKind::Symbols) map.at(row, column);
}

}  // namespace

const std::vector<std::string>& inspectBenchmarkNames() {
    static const std::vector<std::string> names = {"inspect_343m_1024", "inspect_12x12_512",
                                                   "inspect_4096"};
    return names;
}

BenchmarkResult runInspectBenchmark(const std::string& name) {
    const auto subject = subjectOf(name);
    const auto model = randomModel(subject.model);
    const torch::NoGradGuard noGrad;
    ProbeSample sample;
    const auto tokens = torch::randint(subject.model.outputs(), {1, subject.tokens}, torch::kLong);
    const auto* ids = tokens.const_data_ptr<std::int64_t>();
    sample.source.tokens.assign(ids, ids + tokens.numel());

    BenchmarkResult result;
    result.name = name, result.device = "cpu", result.form = "factors";
    result.parameters = parameterCount(subject.model);
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    const double weights = ownMb("VmRSS");
    ProbeResult seen;
    const double probe = best(2, [&] { seen = probeModel(*model, subject.model, sample, 0, {}); });
    const double peak = ownMb("VmHWM");
    const double forward = best(2, [&] { model->forward(tokens); });
    const int last = static_cast<int>(seen.layers.size()) - 1;
    const auto read = [&seen](MapKind kind, int layer, int index) {
        return best(3, [&] { seen.find(kind, layer, index)->all(); });
    };
    const int half = static_cast<int>(subject.tokens / 2);
    result.figures = {
        {"forward_ms", forward},
        {"probe_ms", probe},
        {"probe_by_forward", probe / forward},
        {"first_map_ms", firstMapMs(*model, subject, sample, 0)},
        {"first_map_last_layer_ms", firstMapMs(*model, subject, sample, last)},
        {"next_relation_ms", read(MapKind::Relation, 0, 1)},
        {"next_head_ms", read(MapKind::RelationalAttention, 0, 1)},
        {"next_layer_ms", read(MapKind::Relation, last, 0)},
        {"hover_ms", best(3, [&] { readCell(seen, last, half, half / 2); })},
        {"factors_mb", factorMb(seen)},
        {"peak_over_weights_mb", peak - weights},
    };
    result.peakRssMb = ownMb("VmHWM");
    return result;
}

}  // namespace relascope::core
