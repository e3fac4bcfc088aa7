// SPDX-License-Identifier: GPL-3.0-or-later
#include <malloc.h>
#include <torch/utils.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "analysis/analysis.h"
#include "analysis/atlas/atlas.h"
#include "analysis/contrast/contrast.h"
#include "analysis/duel/duel.h"
#include "analysis/open_model.h"
#include "analysis/origins/origins.h"
#include "analysis/parts/score_factors.h"
#include "analysis/parts/weight_scores.h"
#include "analysis/run_analysis.h"
#include "analysis/scan/scan.h"
#include "bench/benchmark_parts.h"
#include "bench/inspect_benchmark.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "files/memory.h"
#include "model/blocks/parameters.h"
#include "model/decode/generate.h"
#include "model/language/language_options.h"
#include "model/public/family.h"
#include "options/estimates.h"
#include "options/presets.h"
#include "options/published_config.h"
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
    throw OptionError("name", unknownName("benchmark", name, inspectBenchmarkNames()));
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

// Milliseconds from the request to the values of the first relation of that layer.
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

/// Images of nine squares, of which some are empty, with two facts each.
class Squares : public ImageDataset {
public:
    explicit Squares(std::int64_t size) {
        m_info.name = "squares", m_info.size = size, m_info.classNames = {"no", "yes"};
        m_facts = {{{"shape"}, {"colour"}}, 9, 3};
    }
    const DatasetInfo& info() const override { return m_info; }
    const ObjectFacts* objectFacts() const override { return &m_facts; }
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override {
        std::mt19937_64 random(static_cast<std::uint64_t>(index));
        for (std::size_t cell = 0; cell < 9; ++cell) {
            const auto drawn = static_cast<std::int32_t>(random() % 48);
            const bool empty = drawn >= 24;
            facts[2 * cell] = empty ? kEmptyPlace : drawn / 6;
            facts[2 * cell + 1] = empty ? kEmptyPlace : drawn % 6;
        }
    }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        std::int32_t facts[18];
        readFacts(index, facts);
        for (std::size_t p = 0; p < pixels.size(); ++p) {
            const std::size_t cell = p / 3 / 36 / 12 * 3 + p / 3 % 36 / 12;
            const auto shape = facts[2 * cell], colour = facts[2 * cell + 1];
            pixels[p] = shape < 0
                            ? 0
                            : static_cast<std::uint8_t>(60 * shape + 30 * (colour >> (p % 3) & 1));
        }
        return index % 2;
    }

private:
    DatasetInfo m_info;
    ObjectFacts m_facts;
};

class RandomTexts : public TokenDataset {
public:
    RandomTexts(std::int64_t size, std::int64_t context, std::int64_t vocabulary)
        : m_context(context), m_vocabulary(vocabulary) {
        m_info.name = "random tokens", m_info.size = size, m_info.targets = TargetKind::Tokens;
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t context() const override { return m_context; }
    TokenizerPtr tokenizer() const override { return nullptr; }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        std::mt19937_64 random(static_cast<std::uint64_t>(index));
        for (auto& token : tokens)
            token = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(m_vocabulary));
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample sample;
        sample.source.tokens.resize(static_cast<std::size_t>(m_context) + 1);
        read(index, sample.source.tokens);
        sample.source.tokens.pop_back();
        sample.origin = m_info.name + " " + std::to_string(index);
        return sample;
    }

private:
    DatasetInfo m_info;
    std::int64_t m_context, m_vocabulary;
};

/// Times a whole analysis, and when it gives its first result.
BenchmarkResult runAnalysisBenchmark(const std::string& name) {
    const bool scan = name == "scan_345m";
    auto options = presetOptions(scan ? "lm-343m" : "relational-games-occurs", "dat").model;
    if (scan) options.set("max_block_size", std::int64_t{512});
    OpenedModel model(options, 1, "cpu");
    AnalysisSubject subject;
    subject.model = &model, subject.device = "cpu";
    if (scan)
        subject.data = std::make_shared<RandomTexts>(40, 512, options.outputs());
    else
        subject.data = std::make_shared<Squares>(5000);
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    const double weights = ownMb("VmRSS");
    const auto start = Clock::now();
    double first = 0.0, estimated = 0.0;
    AnalysisWatch watch;
    watch.partial = [&](const Answer& part) {
        if (first == 0.0) first = since(start);
        if (scan && part.number("passes") == 1.0 && estimated == 0.0) estimated = since(start);
    };
    if (scan)
        runnerOf(analysisNamed("scan"))
            .run(subject, {{"examples", std::int64_t{20}}, {"seconds", std::int64_t{600}}}, watch);
    else
        runnerOf(analysisNamed("atlas"))
            .run(subject, {{"examples", std::int64_t{5000}}, {"use_examples", std::int64_t{0}}},
                 watch);
    BenchmarkResult result;
    result.name = name, result.device = "cpu", result.form = "none";
    result.parameters = parameterCount(options);
    result.figures = {{"first_result_s", first / 1000.0}, {"whole_s", since(start) / 1000.0}};
    if (scan) result.figures.emplace_back("first_pass_s", estimated / 1000.0);
    result.peakRssMb = ownMb("VmHWM");
    result.figures.emplace_back("peak_over_weights_mb", result.peakRssMb - weights);
    if (scan)
        result.figures.emplace_back("forward_s",
                                    best(1, [&] { model.evaluate(subject.data, 1); }) / 1000.0);
    return result;
}

// The first public family as its configuration is without any key: 124M parameters.
BenchmarkResult runPublicBenchmark(double seconds) {
    const auto options = modelOfFamily(decoderFamilies().front(), nlohmann::ordered_json::object());
    const auto model = randomModel(options);
    const torch::NoGradGuard noGrad;
    constexpr std::int64_t kPass = 512, kPrompt = 16, kGenerated = 64;
    const auto tokens = torch::randint(options.outputs(), {1, kPass}, torch::kLong);
    const auto* ids = tokens.const_data_ptr<std::int64_t>();
    std::vector<double> passes, generated;
    for (const auto start = Clock::now();
         generated.size() < 3 || since(start) < 1000.0 * seconds;) {
        passes.push_back(best(1, [&] { model->forward(tokens); }));
        generated.push_back(best(1, [&] {
            LanguageReader reader(*model, options);
            std::vector<std::int64_t> next(ids, ids + kPrompt);
            for (std::int64_t i = 0; i < kGenerated; ++i)
                next = {reader.read(next).argmax().item<std::int64_t>()};
        }));
    }
    const auto least = [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
    };
    BenchmarkResult result;
    result.name = "public", result.device = "cpu", result.form = "none";
    result.parameters = parameterCount(options);
    result.figures = {
        {"pass_512_ms", least(passes)},
        {"tokens_per_s", 1000.0 * static_cast<double>(kGenerated) / least(generated)}};
    result.peakRssMb = ownMb("VmHWM");
    return result;
}

/// A model with random weights in a folder of its own, for an analysis that opens it.
class StoredModel {
public:
    explicit StoredModel(const ModelOptions& options)
        : m_folder(std::filesystem::temp_directory_path() /
                   ("relascope-bench-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(m_folder);
        writeTextFile((m_folder / "config.json").string(), modelToPublishedConfig(options));
        saveWeights(*randomModel(options), (m_folder / "model.safetensors").string());
    }
    ~StoredModel() {
        std::error_code ignored;
        std::filesystem::remove_all(m_folder, ignored);
    }
    StoredModel(const StoredModel&) = delete;
    StoredModel& operator=(const StoredModel&) = delete;
    std::string path() const { return m_folder.string(); }

private:
    std::filesystem::path m_folder;
};

/// Two models of the same options: the maps of one input of both, one after the other, and what a
/// duel takes without its untrained pairs.
BenchmarkResult runDuelBenchmark(const std::string& name) {
    constexpr std::int64_t tokens = 128, texts = 100;
    const bool text = name == "duel_12x12";
    auto options = text ? subjectOf("inspect_12x12_512").model
                        : presetOptions("relational-games-occurs", "dat").model;
    const StoredModel stored(options);
    OpenedModel a(options, 1, "cpu"), b(stored.path(), "", "cpu");
    AnalysisSubject subject;
    subject.model = &a, subject.device = "cpu";
    if (text)
        subject.data = std::make_shared<RandomTexts>(texts, tokens, options.outputs());
    else
        subject.data = std::make_shared<Squares>(500);
    const auto sample = subject.data->sample(0);
    BenchmarkResult result;
    result.name = name, result.device = "cpu", result.form = "factors";
    result.parameters = parameterCount(options);
    result.figures = {
        {"both_answers_ms", best(5, [&] { a.probe(sample, {}), b.probe(sample, {}); })}};
    auto other = std::make_shared<AnalysisSubject>();
    other->model = &b, other->path = stored.path();
    subject.other = std::move(other);
    const auto start = Clock::now();
    runnerOf(analysisNamed("duel"))
        .run(subject,
             {{"examples", std::int64_t{500}}, {"tokens", tokens}, {"untrained", std::int64_t{0}}},
             {});
    result.figures.emplace_back("matching_s", since(start) / 1000.0);
    result.peakRssMb = ownMb("VmHWM");
    return result;
}

/// Where scores come from: one cell beside a pass of the same input, or pairs of 2,000 images.
BenchmarkResult runWhyBenchmark(const std::string& name) {
    const bool text = name == "origins_lm", contrast = name == "contrast_2000";
    auto options = text ? subjectOf("inspect_12x12_512").model
                        : presetOptions("relational-games-occurs", "dat").model;
    OpenedModel model(options, 1, "cpu");
    AnalysisSubject subject;
    subject.model = &model, subject.device = "cpu";
    if (text)
        subject.data = std::make_shared<RandomTexts>(1, 256, options.outputs());
    else
        subject.data = std::make_shared<Squares>(2000);
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    const double weights = ownMb("VmRSS");
    BenchmarkResult result;
    result.name = name, result.device = "cpu", result.form = "none";
    result.parameters = parameterCount(options);
    if (contrast) {
        const auto start = Clock::now();
        runnerOf(analysisNamed("contrast"))
            .run(subject,
                 {{"layer", std::int64_t{2}},
                  {"attribute", std::string("same object")},
                  {"examples", std::int64_t{2000}},
                  {"untrained", std::int64_t{0}}},
                 {});
        result.figures = {{"whole_s", since(start) / 1000.0}};
    } else {
        subject.sample = subject.data->sample(0);
        const auto layer = options.get<StackDepth>().n_layers;
        const auto run = [&](const char* kind, std::int64_t i, std::int64_t j) {
            runnerOf(analysisNamed("qk-attribution"))
                .run(subject,
                     {{"layer", layer}, {"kind", std::string(kind)}, {"source", i}, {"to", j}}, {});
        };
        const std::int64_t i = text ? 200 : 7, j = 3;
        result.figures = {{"pass_ms", best(3,
                                           [&] {
                                               model.withInput(*subject.sample, {},
                                                               [](auto& m, const auto& input) {
                                                                   const torch::NoGradGuard noGrad;
                                                                   m.forward(input);
                                                               });
                                           })},
                          {"relation_ms", best(3, [&] { run("relation", i, j); })},
                          {"attention_ms", best(3, [&] { run("attention-ra", i, j); })}};
    }
    result.peakRssMb = ownMb("VmHWM");
    result.figures.emplace_back("peak_over_weights_mb", result.peakRssMb - weights);
    return result;
}

/// The table of scores of GPT-2's vocabulary, by factors of three widths.
BenchmarkResult runDictionaryBenchmark() {
    constexpr std::int64_t tokens = 50257;
    BenchmarkResult result;
    result.name = "dictionary_50k", result.device = "cpu", result.form = "none";
    {
        auto options = subjectOf("inspect_12x12_512").model;
        options.set("vocab_size", tokens), options.set("n_layers", std::int64_t{1});
        OpenedModel model(options, 1, "cpu");
        model.withInput(model.randomInput(0), {}, [&](ModelImpl& m, const ModelInput&) {
            const ModelStreams streams(m, options);
            const ScoreParts parts(streams, scoreMap(streams, "", 0, "attention-sa", 0));
            result.figures.emplace_back("factors_s",
                                        best(1, [&] { tokenFactors(parts, {}); }) / 1000.0);
        });
    }
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    const double before = ownMb("VmRSS");
    // Weights fall as the frequencies of words do (Zipf 1949).
    auto weights = 1.0 / torch::arange(1, tokens + 1).to(torch::kDouble);
    weights = weights / weights.sum();
    for (const std::int64_t width : {8, 16, 64}) {
        torch::manual_seed(1);
        const ScoreFactors factors{torch::randn({tokens, width}, torch::kDouble),
                                   torch::randn({tokens, width}, torch::kDouble), 1.0};
        const auto add = [&](const std::string& name, double ms) {
            result.figures.emplace_back(name + "_" + std::to_string(width) + "_s", ms / 1000.0);
        };
        add("components", best(2, [&] { componentsOf(factors, weights, 8); }));
        add("self", best(1, [&] { selfPreference(factors, weights); }));
        add("partners", best(3, [&] { torch::matmul(factors.k, factors.q[7]).topk(20); }));
        std::int64_t looked = 0, tiles = 1;
        add("extremes", best(1, [&] {
                const auto found = extremePairs(factors, 20);
                looked = found.looked, tiles = found.tiles;
            }));
        result.figures.emplace_back("tiles_" + std::to_string(width),
                                    static_cast<double>(looked) / static_cast<double>(tiles));
    }
    result.peakRssMb = ownMb("VmHWM");
    result.figures.emplace_back("peak_over_weights_mb", result.peakRssMb - before);
    return result;
}

}  // namespace

const std::vector<std::string>& inspectBenchmarkNames() {
    static const std::vector<std::string> names = {
        "inspect_343m_1024", "inspect_12x12_512", "inspect_4096",   "atlas_5000",
        "scan_345m",         "duel_vidat",        "duel_12x12",     "origins_vidat",
        "origins_lm",        "contrast_2000",     "dictionary_50k", "public"};
    return names;
}

BenchmarkResult runInspectBenchmark(const std::string& name, double seconds) {
    if (name == "public") return runPublicBenchmark(seconds);
    if (name == "atlas_5000" || name == "scan_345m") return runAnalysisBenchmark(name);
    if (name == "dictionary_50k") return runDictionaryBenchmark();
    if (name.starts_with("duel_")) return runDuelBenchmark(name);
    if (name.starts_with("origins_") || name == "contrast_2000") return runWhyBenchmark(name);
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
