// SPDX-License-Identifier: GPL-3.0-or-later
// Maps made from factors equal the maps that the plain form of attention computes.
#include "probe/map_factors.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "files/atomic_file.h"
#include "probe/map_collector.h"
#include "probe/probe.h"
#include "run/captures.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

/// Records whole maps, so that modules run the plain form.
class WholeMaps : public MapCollector {
public:
    explicit WholeMaps(const ModelOptions& options)
        : MapCollector(options, {}),
          m_byHead(options.find<BlockOptions>() && options.info().dual &&
                   options.get<BlockOptions>().ra_type == "disrca") {}
    bool takesFactors() const override { return false; }
    void relations(const std::string& module, const torch::Tensor& r) override {
        MapCollector::relations(module, m_byHead ? r.permute({0, 2, 3, 1}) : r);
    }
    using MapCollector::relations;

private:
    bool m_byHead;
};

std::vector<RelationMap> wholeMaps(ModelImpl& model, const ModelOptions& options,
                                   const ProbeSample& sample) {
    const torch::NoGradGuard noGrad;
    model.eval();
    WholeMaps collector(options);
    const RecordingScope scope(collector);
    model.forward(inputOf(sample, options));
    return collector.maps();
}

std::string temporaryFolder(const std::string& name) {
    const auto folder = std::filesystem::temp_directory_path() /
                        ("relascope-test-" + name + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    return folder.string();
}

/// Weights that give relations and scores of about 1.
ModelPtr lively(const ModelOptions& options) {
    torch::manual_seed(3);
    auto model = makeModel(options);
    const torch::NoGradGuard noGrad;
    for (auto& p : model->parameters()) p.add_(torch::randn_like(p) * 0.15);
    return model;
}

void expectEqualMaps(const ModelOptions& options, const ProbeSample& sample,
                     const std::string& what, int* made = nullptr) {
    const auto model = lively(options);
    const auto whole = wholeMaps(*model, options, sample);
    const auto probed = probeModel(*model, options, sample, 0, {});
    ASSERT_EQ(whole.size(), probed.maps.size()) << what;
    for (std::size_t m = 0; m < whole.size(); ++m) {
        const auto &a = whole[m], &b = probed.maps[m];
        ASSERT_TRUE(a.kind == b.kind && a.layer == b.layer && a.index == b.index) << what;
        ASSERT_TRUE(a.rows == b.rows && a.columns == b.columns) << what;
        EXPECT_EQ(a.causal, b.causal);
        EXPECT_EQ(a.libraryRows, b.libraryRows);
        if (made && b.source) ++*made;
        const auto x = a.all(), y = b.all();
        ASSERT_EQ(x.size(), y.size());
        float largest = 1.0F, error = 0.0F;
        for (std::size_t c = 0; c < x.size(); ++c) {
            largest = std::max(largest, std::abs(x[c]));
            error = std::max(error, std::abs(x[c] - y[c]));
        }
        EXPECT_LE(error, 1e-6F * largest) << what << ": " << mapKindName(a.kind) << " of layer "
                                          << a.layer + 1 << ", " << a.index + 1;
    }
}

TEST(MapFactors, EveryArchitectureGivesTheSameMaps) {
    for (const auto& [name, options] : smallModels())
        expectEqualMaps(options, randomSample(options, 5), name);
}

ModelOptions longText(const char* architecture = "DualAttnTransformerLM") {
    ModelOptions m;
    m.setArchitecture(architecture);
    put(m, "vocab_size", 11), put(m, "max_block_size", 70), put(m, "d_model", 16);
    put(m, "n_layers", 2), put(m, "dff", 12), put(m, "n_heads_sa", 2), put(m, "n_heads_ra", 2);
    put(m, "dropout_rate", 0.1), put(m, "symmetric_rels", false);
    put(m, "symbol_retrieval", "symbolic_attention"), put(m, "n_symbols", 60);
    put(m, "symbol_heads", 2), put(m, "n_relations", 4);
    return m;
}

ProbeSample text(int tokens) {
    ProbeSample sample;
    for (int i = 0; i < tokens; ++i) sample.source.tokens.push_back((i * 7 + i / 3) % 11);
    return sample;
}

TEST(MapFactors, LongTextsGiveTheSameMapsWithEveryActivation) {
    int made = 0;
    for (const char* activation :
         {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"}) {
        auto options = longText();
        put(options, "rel_activation", activation);
        expectEqualMaps(options, text(70), std::string("relations ") + activation, &made);
        put(options, "ra_type", "disrca");
        expectEqualMaps(options, text(70), std::string("disrca ") + activation, &made);
        options = longText();
        put(options, "ra_type", "rca"), put(options, "rca_activation", activation);
        expectEqualMaps(options, text(70), std::string("rca ") + activation, &made);
    }
    for (const char* symbols : {"positional_symbols", "position_relative"}) {
        auto options = longText();
        put(options, "symbol_retrieval", symbols), put(options, "max_rel_pos", 20);
        expectEqualMaps(options, text(69), symbols, &made);
    }
    auto grouped = longText();
    put(grouped, "sa_n_kv_heads", 1), put(grouped, "ra_n_kv_heads", 1);
    put(grouped, "symmetric_rels", true);
    expectEqualMaps(grouped, text(67), "grouped", &made);
    expectEqualMaps(longText("TransformerLM"), text(70), "Transformer", &made);
    EXPECT_GT(made, 200) << "factors are smaller here";
}

TEST(MapFactors, FactorsOfTheImagesOfCifarAreSmallerThanTheirMaps) {
    ModelOptions options;
    options.setArchitecture("VisionDualAttnTransformer");
    put(options, "image_shape", std::vector<std::int64_t>{3, 32, 32});
    put(options, "patch_size", std::vector<std::int64_t>{4, 4}), put(options, "num_classes", 3);
    put(options, "d_model", 24), put(options, "n_layers", 2), put(options, "n_heads_sa", 2);
    put(options, "n_heads_ra", 4), put(options, "symmetric_rels", true);
    int made = 0;
    expectEqualMaps(options, randomSample(options, 2), "CIFAR", &made);
    EXPECT_EQ(made, 2 * (2 + 4 + 4 + 1));
    const auto probed = probeModel(*lively(options), options, randomSample(options, 2), 0, {});
    for (const auto& map : probed.maps) EXPECT_TRUE(map.values.empty());
}

MapFactors factors(std::int64_t maps, std::int64_t groups, std::int64_t rows, std::int64_t columns,
                   std::int64_t width) {
    MapFactors f;
    f.maps = maps, f.groups = groups, f.rows = rows, f.columns = columns, f.width = width;
    const auto q = torch::randn({maps * rows * width}),
               k = torch::randn({groups * columns * width});
    f.queries.assign(q.const_data_ptr<float>(), q.const_data_ptr<float>() + q.numel());
    f.keys = std::make_shared<const std::vector<float>>(k.const_data_ptr<float>(),
                                                        k.const_data_ptr<float>() + k.numel());
    f.scale = 0.3;
    return f;
}

TEST(MapFactors, RowsAndCellsAgreeWhereverABlockStarts) {
    for (const char* activation : {"identity", "tanh", "softmax"})
        for (const bool causal : {false, true})
            for (const auto columns : {5, 16, 53}) {
                auto f = factors(4, 2, 53, columns, 7);
                f.activation = activation, f.causal = causal;
                const FactoredMaps maps(f);
                std::vector<float> all(static_cast<std::size_t>(53 * columns));
                maps.rows(3, 0, 53, all.data());
                for (int first = 0; first < 53; ++first) {
                    const int count = std::min(6, 53 - first);
                    std::vector<float> part(static_cast<std::size_t>(count * columns));
                    maps.rows(3, first, count, part.data());
                    for (std::size_t c = 0; c < part.size(); ++c)
                        ASSERT_EQ(part[c], all[static_cast<std::size_t>(first * columns) + c]);
                    for (int j = 0; j < columns; ++j)
                        ASSERT_NEAR(maps.cell(3, first, j, columns),
                                    all[static_cast<std::size_t>(first * columns + j)], 2e-6);
                }
            }
}

TEST(MapFactors, FactorsOfAnotherShapeAreRefused) {
    auto f = factors(4, 2, 5, 6, 3);
    f.queries.pop_back();
    EXPECT_THROW(FactoredMaps{f}, Error);
    f = factors(4, 2, 5, 6, 3);
    f.groups = 3;
    EXPECT_THROW(FactoredMaps{f}, Error);
    f = factors(4, 2, 5, 6, 3);
    f.keys = nullptr;
    EXPECT_THROW(FactoredMaps{f}, Error);
}

TEST(ProbeWatch, TheShownLayerIsReportedBeforeTheOthersHaveRun) {
    auto options = longText();
    put(options, "n_layers", 4);
    const auto model = lively(options);
    std::vector<ProbeResult> parts;
    std::vector<double> fractions;
    ProbeWatch watch;
    watch.shownLayer = 1;
    watch.partial = [&](ProbeResult part) { parts.push_back(std::move(part)); };
    watch.progress = [&](double fraction) { return fractions.push_back(fraction), true; };
    const auto whole = probeModel(*model, options, text(40), 7, {}, watch);
    EXPECT_EQ(fractions, (std::vector<double>{0.25, 0.5, 0.75, 1.0}));
    ASSERT_FALSE(parts.empty());
    const auto& first = parts.front();
    EXPECT_TRUE(first.partial);
    EXPECT_FALSE(whole.partial);
    EXPECT_EQ(first.step, 7);
    EXPECT_EQ(first.layers, whole.layers) << "also those that have not run";
    EXPECT_EQ(first.sample, whole.sample);
    for (int layer = 0; layer < 4; ++layer)
        for (const auto kind : {MapKind::Relation, MapKind::SensoryAttention}) {
            EXPECT_EQ(first.count(kind, layer), layer < 2 ? whole.count(kind, layer) : 0);
            if (layer >= 2) continue;
            EXPECT_EQ(first.find(kind, layer, 1)->all(), whole.find(kind, layer, 1)->all());
        }
    EXPECT_TRUE(first.probabilities.empty());
}

TEST(ProbeWatch, AProbeIsCancelledBetweenLayers) {
    const auto options = longText();
    const auto model = lively(options);
    model->train();
    ProbeWatch watch;
    int layers = 0;
    watch.progress = [&](double) { return ++layers < 2; };
    EXPECT_THROW(probeModel(*model, options, text(40), 0, {}, watch), Cancelled);
    EXPECT_TRUE(model->is_training()) << "its mode is restored";
    EXPECT_EQ(layers, 2);
    std::stop_source source;
    source.request_stop();
    watch = {};
    watch.stop = source.get_token();
    EXPECT_THROW(probeModel(*model, options, text(40), 0, {}, watch), Cancelled);
}

TEST(Captures, StoreFactorsWhereTheyAreSmaller) {
    const auto folder = temporaryFolder("factors");
    auto options = longText();
    put(options, "symbol_retrieval", "symbolic_attention"), put(options, "n_symbols", 20);
    const auto model = lively(options);
    std::vector<ProbeResult> results;
    for (const int shift : {0, 1}) {
        auto sample = text(70);
        sample.source.tokens[3] += shift;
        results.push_back(probeModel(*model, options, sample, 12, {}));
    }
    saveCapture(folder, results);
    for (const std::int64_t sample : {0, 1}) {
        const auto read = loadCapture(folder, 12, sample);
        const auto& made = results[static_cast<std::size_t>(sample)].maps;
        ASSERT_EQ(read.maps.size(), made.size());
        for (std::size_t m = 0; m < made.size(); ++m) {
            EXPECT_EQ(read.maps[m].kind, made[m].kind);
            EXPECT_EQ(read.maps[m].causal, made[m].causal);
            EXPECT_EQ(read.maps[m].source != nullptr, made[m].source != nullptr);
            EXPECT_EQ(read.maps[m].all(), made[m].all());
        }
    }
    std::filesystem::remove_all(folder);
}

TEST(Captures, SymbolsByPositionTakeNoRoom) {
    for (const char* symbols : {"positional_symbols", "position_relative"}) {
        const auto folder = temporaryFolder("positions");
        auto options = longText();
        put(options, "symbol_retrieval", symbols), put(options, "max_rel_pos", 20);
        const auto made = probeModel(*lively(options), options, text(70), 3, {});
        saveCapture(folder, {made});
        const auto read = loadCapture(folder, 3, 0);
        ASSERT_EQ(read.count(MapKind::Symbols, 1), 1);
        const auto *a = read.find(MapKind::Symbols, 1, 0), *b = made.find(MapKind::Symbols, 1, 0);
        EXPECT_EQ(a->all(), b->all()) << symbols;
        EXPECT_EQ(a->libraryRows, b->libraryRows);
        EXPECT_EQ(a->at(40, 2), b->all()[40 * 70 + 2]);
        std::filesystem::remove_all(folder);
    }
}

TEST(Captures, KeepTheTokensBeforeThePatches) {
    const auto folder = temporaryFolder("registers");
    auto result = probeModel(*lively(longText()), longText(), text(70), 3, {});
    for (const PatchGrid& grid :
         {PatchGrid{4, 4, true, 4}, PatchGrid{4, 4, true, 1}, PatchGrid{4, 4, true},
          PatchGrid{4, 4}, PatchGrid{4, 4, false, 4}}) {
        result.grid = grid;
        saveCapture(folder, {result});
        EXPECT_EQ(loadCapture(folder, 3, 0).grid, grid);
    }
    EXPECT_EQ((PatchGrid{4, 4, true, 4}.tokens()), 21);
    auto bytes =
        readTextFile(folder + "/step-3.safetensors");  // of an earlier version, which lacks them
    bytes.replace(bytes.find("first_tokens"), 12, "other_tokens");
    writeTextFile(folder + "/step-3.safetensors", bytes);
    EXPECT_EQ(loadCapture(folder, 3, 0).grid, (PatchGrid{4, 4}));
    std::filesystem::remove_all(folder);
}

TEST(Captures, DamagedFactorsAreNamed) {
    const auto folder = temporaryFolder("damaged");
    const auto options = longText();
    saveCapture(folder, {probeModel(*lively(options), options, text(70), 3, {})});
    const auto path = folder + "/step-3.safetensors";
    const auto whole = readTextFile(path);
    const auto damaged = [&](const std::string& what, const std::string& by) {
        auto bytes = whole;
        const auto at = bytes.find(what);
        ASSERT_NE(at, std::string::npos) << what;
        bytes.replace(at, what.size(), by);
        writeTextFile(path, bytes);
        EXPECT_THROW(loadCapture(folder, 3, 0), FileError) << what;
    };
    damaged("\"activation_relation/0\":\"identity\"", "\"activation_relation/0\":\"identitx\"");
    damaged("relation/0/keys", "relation/0/kexs");
    damaged("\"scale_relation/0\":\"0.", "\"scale_relation/0\":\"x.");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace relascope
