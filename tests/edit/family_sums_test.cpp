// SPDX-License-Identifier: GPL-3.0-or-later
// Public families: every score is the sum of its parts, whatever its block normalises, scales, caps
// or clips, and every logit before its cap is that of its attribution.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <filesystem>

#include "analysis/attribute/attribution.h"
#include "analysis/parts/score_parts.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "interventions/editor.h"
#include "model/blocks/block_details.h"
#include "model/model.h"
#include "model/public/public_options.h"
#include "support/rooms.h"

namespace relascope {
namespace {

const std::string kFamilies = std::string(RELASCOPE_FIXTURES) + "/golden/families/";

std::vector<std::string> familyCases() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kFamilies))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

// A golden model and the first of its texts.
struct FamilyCase {
    explicit FamilyCase(const std::string& name)
        : source(CheckpointSource::open(kFamilies + name)),
          options(checkpointModel(*source)),
          model(makeModel(options)),
          input(
              readTensors(kFamilies + name + "/io.safetensors").at("input/tokens").slice(0, 0, 1)) {
        loadWeights(*model, options, *source);
        model->eval();
    }
    std::unique_ptr<CheckpointSource> source;
    ModelOptions options;
    ModelPtr model;
    ModelInput input;
};

class FamilySums : public testing::TestWithParam<std::string> {};

TEST_P(FamilySums, ScoresAreSumsOfTheirParts) {
    const torch::NoGradGuard noGrad;
    FamilyCase of(GetParam());
    PointReader reader;
    {
        const HookScope scope(&reader);
        of.model->forward(of.input);
    }
    const core::ModelStreams streams(*of.model, of.options);
    const auto n = of.input.x.size(1), heads = of.options.number("n_heads_sa");
    const auto objects = torch::arange(n);
    const double cap = of.options.get<BlockDetails>().score_cap;
    for (int layer = 0; layer < of.options.number("n_layers"); ++layer)
        for (int head = 0; head < heads; ++head) {
            const core::ScoreParts parts(
                streams, core::scoreMap(streams, "blocks", layer, "attention-sa", head));
            const auto side = [&](core::ScoreSide which) {
                return parts.parts(which, reader.tensors(), objects, of.input, false);
            };
            const auto i = side(core::ScoreSide::I), j = side(core::ScoreSide::J);
            const auto terms =
                parts.scale() * torch::einsum("iak,jbk->ijab", {i.values[0], j.values[0]});
            // A score near 0 of one part a side is known to the rounding of its vectors.
            const auto lengths = torch::outer(i.recorded[0].norm(2, 1), j.recorded[0].norm(2, 1));
            const auto sizes = terms.abs().sum({2, 3}) + parts.scale() * lengths;
            const auto sum = terms.sum({2, 3}),
                       value = parts.scale() * torch::matmul(i.recorded[0], j.recorded[0].t());
            EXPECT_LT(((sum - value).abs() / sizes).max().item<double>(), 1e-5)
                << layer << " " << head;
            // What was recorded is what the softmax reads, where it is open.
            auto scores =
                reader.tensors()
                    .at("blocks." + std::to_string(layer) + ".attn.hook_attn_scores")[0][head]
                    .to(torch::kDouble);
            const auto given = cap > 0 ? cap * torch::tanh(value / cap) : value;
            const auto open = scores.isfinite();
            EXPECT_LT((given - scores).masked_select(open).abs().max().item<double>(),
                      2e-5 * (1.0 + given.abs().max().item<double>()))
                << layer << " " << head;
        }
}

TEST_P(FamilySums, LogitsAreSumsOfTheirParts) {
    FamilyCase of(GetParam());
    AttributionOptions what;
    what.answer = 5, what.minus = 11;
    if (!of.options.get<BlockOptions>().norm_first || core::readsBothWays(of.options)) {
        EXPECT_THROW(core::attributeLogit(*of.model, of.options, of.input, what), OptionError);
        return;
    }
    const auto result = core::attributeLogit(*of.model, of.options, of.input, what);
    double size = 0.0;
    for (const auto& part : result.parts) size += std::abs(part.value);
    EXPECT_NEAR(result.sum(), result.logit, 1e-5 * size);
    const auto logits = of.model->forward(of.input)[0][-1].to(torch::kDouble);
    if (of.options.get<OutputForm>().soft_cap == 0.0) {
        EXPECT_NEAR(result.logit, (logits[5] - logits[11]).item<double>(), 2e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, FamilySums, testing::ValuesIn(familyCases()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace relascope
