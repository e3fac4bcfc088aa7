// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for every model: gradients, configurations, counts, weights, probes, causality.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "checkpoint/tensor_io.h"

#include <torch/utils.h>

#include "model/blocks/parameters.h"
#include "model/model.h"
#include "model/shapes.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "options/published_config.h"
#include "probe/probe.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

class Zoo : public testing::TestWithParam<std::pair<std::string, ModelOptions>> {
protected:
    const ModelOptions& options() const { return GetParam().second; }
    // The start gives biases of zero and norms of one; gradients are to be tried anywhere.
    ModelPtr shaken(torch::ScalarType type = torch::kFloat) const {
        torch::manual_seed(3);
        auto model = makeModel(options());
        model->to(type);
        model->eval();
        const torch::NoGradGuard noGrad;
        for (const auto& entry : stateOf(*model))
            if (entry.aliasOf.empty() && !entry.buffer)
                entry.tensor.add_(torch::randn_like(entry.tensor) * 0.2);
        return model;
    }
};

TEST_P(Zoo, GradientsMatchFiniteDifferences) {
    auto model = shaken(torch::kDouble);
    const auto batch = smallBatch(options(), 2, torch::kDouble);
    const auto weights = torch::randn_like(model->forward(batch));
    const auto value = [&] { return (model->forward(batch) * weights).sum(); };
    if (!trainableParameters(*model).empty()) value().backward();
    for (const auto& entry : stateOf(*model)) {
        if (!entry.aliasOf.empty() || !entry.tensor.requires_grad()) continue;
        auto flat = entry.tensor.detach().view(-1);
        const auto gradient = entry.tensor.grad();
        for (const std::int64_t at : {std::int64_t{0}, flat.numel() / 2, flat.numel() - 1}) {
            const torch::NoGradGuard noGrad;
            constexpr double step = 1e-5;
            const auto kept = flat[at].clone();
            flat[at] = kept + step;
            const double above = value().item<double>();
            flat[at] = kept - step;
            const double below = value().item<double>();
            flat[at] = kept;
            const double numeric = (above - below) / (2 * step);
            const double analytic = gradient.defined() ? gradient.view(-1)[at].item<double>() : 0.0;
            EXPECT_NEAR(analytic, numeric, 1e-6 * (1 + std::abs(numeric)))
                << entry.name << "[" << at << "]";
        }
    }
}

// The shapes by arithmetic are those of the built model: names, order, sizes, what is trained.
void expectShapes(const ModelOptions& options) {
    std::vector<TensorShape> built;
    const ParameterScope scope(ParameterFill::ShapesOnly);
    for (const auto& entry : stateOf(*makeModel(options)))
        built.push_back({entry.name, entry.tensor.sizes().vec(), entry.aliasOf,
                         entry.tensor.requires_grad(), entry.buffer});
    const auto listed = modelShapes(options);
    ASSERT_EQ(listed.size(), built.size()) << options.architecture();
    for (std::size_t i = 0; i < built.size(); ++i) {
        EXPECT_EQ(listed[i].name, built[i].name);
        EXPECT_EQ(listed[i].shape, built[i].shape) << built[i].name;
        EXPECT_EQ(listed[i].aliasOf, built[i].aliasOf) << built[i].name;
        EXPECT_EQ(listed[i].trainable, built[i].trainable) << built[i].name;
        EXPECT_EQ(listed[i].buffer, built[i].buffer) << built[i].name;
    }
}

TEST_P(Zoo, ConfigurationsRoundTrip) {
    const auto text = modelToPublishedConfig(options());
    const auto back = modelFromPublishedConfig(text);
    EXPECT_EQ(modelToPublishedConfig(back), text);
    const auto shapes = modelShapes(options()), again = modelShapes(back);
    ASSERT_EQ(shapes.size(), again.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        EXPECT_EQ(shapes[i].name, again[i].name);
        EXPECT_EQ(shapes[i].shape, again[i].shape) << shapes[i].name;
        EXPECT_EQ(shapes[i].trainable, again[i].trainable) << shapes[i].name;
    }
    auto one = shaken();
    auto other = makeModel(back);
    other->eval();
    const torch::NoGradGuard noGrad;
    const auto state = stateOf(*other);
    for (std::size_t i = 0; i < state.size(); ++i) state[i].tensor.copy_(stateOf(*one)[i].tensor);
    const auto batch = smallBatch(options(), 2);
    EXPECT_TRUE(torch::equal(one->forward(batch), other->forward(batch)));

    RunOptions run;
    run.model = options();
    EXPECT_EQ(runOptionsFromJson(runOptionsToJson(run)).model, options());
}

TEST_P(Zoo, CountsAndOutlineAreThoseOfTheModel) {
    std::int64_t total = 0, trainable = 0;
    auto model = makeModel(options());
    expectShapes(options());
    for (const auto& entry : stateOf(*model)) {
        if (entry.buffer || !entry.aliasOf.empty()) continue;
        total += entry.tensor.numel();
        trainable += entry.tensor.requires_grad() ? entry.tensor.numel() : 0;
    }
    auto deep = options();
    EXPECT_EQ(countParameters(deep).total, total);
    EXPECT_EQ(countParameters(deep).trainable, trainable);
    const auto outline = modelOutline(options());
    EXPECT_EQ(outline.parameters, total);
    std::int64_t parts = 0;
    for (const auto& child : outline.children) parts += child.parameters;
    EXPECT_EQ(parts, total) << "parts of the outline";
    put(deep, "n_layers", 3);
    if (deep.has("n_layers_enc") && deep.number("n_layers_enc") > 0) deep.set("n_layers_enc", 4);
    put(deep, "n_layers_dec", 3);
    expectShapes(deep);
}

TEST_P(Zoo, WeightsRoundTrip) {
    const std::string path = (std::filesystem::temp_directory_path() /
                              ("zoo-" + std::to_string(::getpid()) + ".safetensors"))
                                 .string();
    auto model = shaken();
    saveWeights(*model, path);
    ModelPtr loaded;
    {
        const ParameterScope scope(ParameterFill::Uninitialised);
        loaded = makeModel(options());
    }
    EXPECT_TRUE(loadWeights(*loaded, path).text().empty());
    std::filesystem::remove(path);
    loaded->eval();
    const auto batch = smallBatch(options(), 2);
    EXPECT_TRUE(torch::equal(model->forward(batch), loaded->forward(batch)));
}

TEST_P(Zoo, ProbeSeesEveryLayerAndChangesNothing) {
    auto model = shaken();
    const auto sample = randomSample(options(), 4);
    const auto result = probeModel(*model, options(), sample, 0, {});
    const torch::NoGradGuard noGrad;
    const auto plain = model->forward(inputOf(sample, options()));
    EXPECT_TRUE(torch::equal(plain, model->forward(inputOf(sample, options()))));
    const bool blind =
        options().architecture() == "ObjectMLP" || options().architecture() == "SymbolicMLP";
    EXPECT_EQ(result.layers.empty(), blind);
    for (std::size_t layer = 0; layer < result.layers.size(); ++layer) {
        int maps = 0;
        for (const auto& map : result.maps) {
            if (map.layer != static_cast<int>(layer)) continue;
            ++maps;
            const auto sideSize = [&](int side) {
                const auto& s = result.sides.at(static_cast<std::size_t>(side));
                return s.labels.empty() ? result.grid.tokens() : static_cast<int>(s.labels.size());
            };
            EXPECT_EQ(map.rows, sideSize(result.layers[layer].rows));
            if (map.kind != MapKind::Symbols) {
                EXPECT_EQ(map.columns, sideSize(result.layers[layer].columns));
            }
            if (map.kind == MapKind::SensoryAttention)
                for (int i = 0; i < map.rows; ++i) {
                    double sum = 0;
                    for (int j = 0; j < map.columns; ++j) {
                        sum += map.at(i, j);
                        if (map.masked(i, j)) {
                            EXPECT_EQ(map.at(i, j), 0.0F);
                        }
                    }
                    EXPECT_NEAR(sum, 1.0, 1e-5);
                }
        }
        EXPECT_GT(maps, 0) << result.layers[layer].name;
    }
    double sum = 0;
    for (const float p : result.probabilities) sum += p;
    if (!result.probabilities.empty()) {  // of classes, not of numbers
        EXPECT_NEAR(sum, 1.0, 1e-5);
    }
    EXPECT_EQ(result.probabilities.size(), result.classNames.size());
}

TEST_P(Zoo, LaterTargetsDoNotLeak) {
    const auto kind = options().input();
    if (kind != InputKind::Tokens && kind != InputKind::Pairs) return;
    auto model = shaken();
    auto batch = smallBatch(options(), 1);
    auto& sequence = kind == InputKind::Tokens ? batch.x : batch.target;
    sequence = sequence.clone();
    const auto before = model->forward(batch);
    const std::int64_t last = sequence.size(1) - 1;
    if (sequence.is_floating_point())
        sequence.select(1, last) += 1.0;
    else
        sequence.select(1, last) = (sequence.select(1, last) + 1) % 5;
    const auto after = model->forward(batch);
    EXPECT_LT((before - after).slice(1, 0, last).abs().max().item<float>(), 1e-6F);
    EXPECT_GT((before - after).select(1, last).abs().max().item<float>(), 1e-4F);
}

TEST(Shapes, AreThoseOfTheModelOfEveryPreset) {
    for (const auto& preset : presets())
        for (const auto& variant : preset.variants) {
            SCOPED_TRACE(preset.name + " " + variant);
            expectShapes(presetOptions(preset.name, variant).model);
        }
}

INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(smallModels()), [](const auto& info) {
    std::string name;
    for (const char c : info.param.first)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name + std::to_string(info.index);
});

TEST(ZooItself, HasEveryArchitecture) {
    std::set<std::string> seen;
    for (const auto& [name, options] : smallModels()) seen.insert(options.architecture());
    for (const auto& architecture : ModelOptions::architectures())
        EXPECT_TRUE(seen.count(architecture)) << architecture;
}

}  // namespace
}  // namespace relascope
