// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens on every model of the zoo, against its own output and its own modules.
#include "analysis/lens/lens.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "interventions/editor.h"
#include "model/model.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

// Models whose layers share one stream that an output layer of classes reads.
bool hasStream(const ModelOptions& o) {
    static const std::vector<std::string> with = {
        "VisionDualAttnTransformer", "VisionTransformer", "AbstractorModel",
        "DualAttnTransformerLM",     "TransformerLM",     "HadamardTransformerLM",
        "Seq2SeqTransformer",        "Seq2SeqAbstractor", "Seq2SeqDualAttnTransformer",
        "MessagePassingAbstractor",  "ObjectAbstractor",  "ObjectTransformer"};
    return std::find(with.begin(), with.end(), o.architecture()) != with.end();
}

ModelPtr drawn(const ModelOptions& options) {
    torch::manual_seed(5);
    auto model = makeModel(options);
    const torch::NoGradGuard noGrad;
    // Larger than initial weights, so that the layers matter.
    for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter), 0.3);
    model->eval();
    return model;
}

torch::Tensor scoresOf(ModelImpl& model, const ModelInput& input) {
    const torch::NoGradGuard noGrad;
    auto scores = model.forward(input);
    scores = scores.dim() == 3 ? scores[0] : scores;
    return scores.size(1) == 1 ? torch::cat({torch::zeros_like(scores), scores}, 1) : scores;
}

TEST(Lens, EndsWithTheModelsOwnAnswer) {
    int seen = 0;
    for (const auto& [name, options] : smallModels()) {
        if (!hasStream(options)) continue;
        SCOPED_TRACE(name);
        auto model = drawn(options);
        const auto input = smallBatch(options, 1);
        const auto scores = scoresOf(*model, input);
        const auto likely = torch::softmax(scores.to(torch::kDouble), -1);
        LensOptions all;
        all.top = scores.size(1) + 3;
        all.answers = {1, 0};
        const auto lens = logitLens(*model, options, input, all);
        ASSERT_EQ(lens.columns(), static_cast<std::size_t>(scores.size(0)));
        ASSERT_EQ(lens.cells.size(), lens.rows.size() * lens.columns());
        EXPECT_EQ(lens.whole, input.x.dim() == 4 || options.input() == InputKind::Objects);
        for (std::size_t c = 0; c < lens.columns(); ++c) {
            const auto at = static_cast<std::int64_t>(c);
            const auto& cell = lens.cell(lens.rows.size() - 1, c);
            ASSERT_EQ(cell.top.size(), static_cast<std::size_t>(scores.size(1)));
            for (const auto& answer : cell.top) {
                EXPECT_NEAR(answer.logit, scores[at][answer.id].item<double>(), 1e-5);
                EXPECT_NEAR(answer.probability, likely[at][answer.id].item<double>(), 1e-5);
            }
            EXPECT_EQ(cell.rank, 1);
            EXPECT_EQ(lens.answers[c].id, cell.top[0].id);
            EXPECT_NEAR(cell.probability, cell.top[0].probability, 1e-9);
            EXPECT_NEAR(cell.asked[0].logit, scores[at][1].item<double>(), 1e-5);
            EXPECT_NEAR(cell.asked[1].probability, likely[at][0].item<double>(), 1e-5);
            EXPECT_NEAR(cell.entropy, -(likely[at] * likely[at].log()).sum().item<double>(), 1e-5);
        }
        ++seen;
    }
    EXPECT_GE(seen, 35);
}

// The rows before the last: the model's own norm and output layer on the stream there.
TEST(Lens, ReadsEveryLayerOfALanguageModel) {
    for (const auto& [name, options] : smallModels()) {
        if (options.architecture() != "DualAttnTransformerLM") continue;
        SCOPED_TRACE(name);
        auto model = drawn(options);
        const auto input = smallBatch(options, 1);
        const auto lens = logitLens(*model, options, input, {.top = 7});
        EXPECT_EQ(lens.rows, (std::vector<std::string>{"embedding", "layer 1", "layer 2"}));
        PointReader reader({"blocks.0.hook_resid_pre", "blocks.1.hook_resid_pre"});
        {
            const torch::NoGradGuard noGrad;
            const HookScope scope(&reader);
            model->forward(input);
        }
        const auto parameters = model->named_parameters();
        const auto& norm = parameters["layers.norm.weight"];
        const auto& shift = parameters["layers.norm.bias"];
        const auto& table = parameters["layers.token_embedder.weight"];
        for (std::int64_t row : {0, 1}) {
            const auto x =
                reader.tensors().at("blocks." + std::to_string(row) + ".hook_resid_pre")[0];
            const auto scores =
                torch::matmul(torch::layer_norm(x, {x.size(1)}, norm, shift), table.t());
            for (std::int64_t c = 0; c < scores.size(0); ++c) {
                const auto& cell =
                    lens.cell(static_cast<std::size_t>(row), static_cast<std::size_t>(c));
                for (const auto& answer : cell.top)
                    EXPECT_NEAR(answer.logit, scores[c][answer.id].item<double>(), 1e-5);
                const auto own = lens.answers[static_cast<std::size_t>(c)].id;
                std::int64_t rank = 1;
                for (std::int64_t a = 0; a < 7; ++a)
                    rank += scores[c][a].item<double>() > scores[c][own].item<double>();
                EXPECT_EQ(cell.rank, rank);
            }
        }
    }
}

TEST(Lens, TakesOnePosition) {
    ModelOptions options;
    for (const auto& [name, each] : smallModels())
        if (each.architecture() == "TransformerLM") options = each;
    auto model = drawn(options);
    const auto input = smallBatch(options, 1);
    const auto all = logitLens(*model, options, input);
    for (const std::int64_t position : {1, -2}) {
        const auto one = logitLens(*model, options, input, {.position = position});
        const auto column = static_cast<std::size_t>(
            position < 0 ? position + static_cast<std::int64_t>(all.columns()) : position);
        ASSERT_EQ(one.positions, (std::vector<std::int64_t>{all.positions[column]}));
        for (std::size_t row = 0; row < all.rows.size(); ++row)
            EXPECT_NEAR(one.cell(row, 0).entropy, all.cell(row, column).entropy, 1e-6);
    }
}

template <class Action>
std::string refusalOf(Action&& action) {
    try {
        action();
    } catch (const OptionError& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(Lens, SaysWhyAModelHasNone) {
    for (const auto& [name, options] : smallModels()) {
        if (hasStream(options)) continue;
        auto model = drawn(options);
        const auto said = refusalOf([&, &o = options] { logitLens(*model, o, smallBatch(o, 1)); });
        EXPECT_NE(said.find(options.architecture()), std::string::npos) << name << ": " << said;
        EXPECT_TRUE(said.find("has no residual stream") != std::string::npos ||
                    said.find("answers with numbers") != std::string::npos)
            << name << ": " << said;
    }
}

TEST(Lens, RefusesWhatIsNotThere) {
    for (const auto& [name, options] : smallModels()) {
        const auto& architecture = options.architecture();
        if (architecture != "TransformerLM" && architecture != "VisionTransformer") continue;
        auto model = drawn(options);
        const auto said = [&, &o = options](const LensOptions& what) {
            return refusalOf([&] { logitLens(*model, o, smallBatch(o, 1), what); });
        };
        EXPECT_NE(said({.top = 0}).find("top: must be at least 1"), std::string::npos);
        EXPECT_NE(said({.answers = {9}}).find("answer: there is no answer 9"), std::string::npos);
        EXPECT_NE(said({.position = 5})
                      .find(architecture == "TransformerLM"
                                ? "position: 5 is out of range: the input has 5 positions, 0 to 4"
                                : "position: this model gives one answer"),
                  std::string::npos)
            << said({.position = 5});
        EXPECT_NE(refusalOf([&, &o = options] {
                      logitLens(*model, o, smallBatch(o, 2));
                  }).find("one example"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace relascope
