// SPDX-License-Identifier: GPL-3.0-or-later
// Direct attribution: the parts of every model that has them add up to its logits, and each is what
// the stream loses with that part.
#include "analysis/attribute/attribution.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "interventions/edited_run.h"
#include "model/model.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

ModelPtr drawn(const ModelOptions& options, torch::ScalarType type) {
    torch::manual_seed(7);
    auto model = makeModel(options);
    {
        const torch::NoGradGuard noGrad;
        for (auto& parameter : model->parameters())
            parameter.add_(torch::randn_like(parameter), 0.3);
    }
    model->to(type);
    model->eval();
    return model;
}

// The zoo's models that this is for, with norms before their parts, and what else changes the sums.
std::vector<std::pair<std::string, ModelOptions>> preNormModels() {
    std::vector<std::pair<std::string, ModelOptions>> models;
    const auto add = [&](const std::string& name, const ModelOptions& base, auto&& change) {
        auto options = base;
        if (options.has("norm_first")) put(options, "norm_first", true);
        if (options.has("decoder.norm_first")) put(options, "decoder.norm_first", true);
        change(options);
        models.emplace_back(name, options);
    };
    for (const auto& [name, base] : smallModels()) {
        const auto& architecture = base.architecture();
        const bool dual = base.info().dual;
        if (architecture.find("Abstractor") != std::string::npos ||
            (architecture.find("Transformer") == std::string::npos))
            continue;
        add(name, base, [](ModelOptions&) {});
        add(name + ", rmsnorm, swiglu, biases", base, [&](ModelOptions& o) {
            for (const std::string stack : {"", "decoder."}) {
                const auto set = [&](const std::string& field, const auto& value) {
                    if (o.has(stack + field)) put(o, stack + field, value);
                };
                set("norm_type", "rmsnorm"), set("activation", "swiglu"), set("bias", true);
                set("sa_add_bias_out", true), set("ra_add_bias_out", true);
                set("sa_add_bias_kv", true), set("ra_add_bias_kv", true);
            }
        });
        if (base.has("final_norm"))
            add(name + ", class token, final norm", base,
                [](ModelOptions& o) { put(o, "pool", "cls"), put(o, "final_norm", true); });
        if (!dual) continue;
        add(name + ", relative symbols", base, [](ModelOptions& o) {
            put(o, "symbol_retrieval", "position_relative"), put(o, "max_rel_pos", 3);
            put(o, "weight_tie_symbol_library", false);
        });
        for (const std::string none : {"n_heads_sa", "n_heads_ra"})
            add(name + ", " + none + " 0", base, [&](ModelOptions& o) {
                put(o, none, 0), put(o, "share_attn_params", false);
                if (o.has("decoder." + none)) put(o, "decoder." + none, 0);
            });
        add(name + ", no norm", base, [](ModelOptions& o) {
            for (const std::string stack : {"", "decoder."})
                if (o.has(stack + "norm_type"))
                    put(o, stack + "norm_type", "none"), put(o, stack + "norm_first", false);
        });
    }
    return models;
}

double largest(const Attribution& parts) {
    double most = 0.0;
    for (const auto& part : parts.parts) most = std::max(most, std::abs(part.value));
    return most;
}

class AttributionSums : public testing::TestWithParam<torch::ScalarType> {};

TEST_P(AttributionSums, AreTheLogits) {
    double worst = 0.0;
    int models = 0;
    for (const auto& [name, options] : preNormModels()) {
        SCOPED_TRACE(name);
        auto model = drawn(options, GetParam());
        const auto input = smallBatch(options, 1, GetParam());
        const bool whole =
            options.input() == InputKind::Images || options.input() == InputKind::Objects;
        for (const auto& what : {AttributionOptions{1, -1, -1}, AttributionOptions{0, 1, -1},
                                 AttributionOptions{1, 0, whole ? -1 : 1}}) {
            const auto found = attributeLogit(*model, options, input, what);
            const double error = std::abs(found.sum() - found.logit) / largest(found);
            EXPECT_LT(error, 1e-5) << found.sum() << " is not " << found.logit;
            worst = std::max(worst, error);
        }
        ++models;
    }
    EXPECT_GE(models, 40);
    RecordProperty("largest_relative_error", std::to_string(worst));
}

// Whatever the model: parts that add up, or one sentence that says why there are none.
TEST(Attribution, EveryModelOfTheZooAddsUpOrSaysWhyNot) {
    int sums = 0, refused = 0, postNorm = 0;
    for (const auto& [name, base] : smallModels())
        for (const std::string without : {"", "n_heads_sa", "n_heads_ra"}) {
            SCOPED_TRACE(name + (without.empty() ? "" : ", " + without + " 0"));
            auto options = base;
            if (!without.empty()) {
                if (!base.info().dual) continue;
                put(options, without, 0), put(options, "share_attn_params", false);
                if (options.has("decoder." + without)) put(options, "decoder." + without, 0);
            }
            auto model = drawn(options, torch::kDouble);
            const auto input = smallBatch(options, 1, torch::kDouble);
            try {
                const auto found = attributeLogit(*model, options, input, {1, 0, -1});
                EXPECT_LT(std::abs(found.sum() - found.logit), 1e-9 * (1.0 + largest(found)));
                ++sums;
            } catch (const OptionError& error) {
                EXPECT_EQ(error.field(), "model") << error.what();
                EXPECT_GT(error.message().size(), 40U) << error.what();
                postNorm += error.message().find("post-norm") != std::string::npos;
                ++refused;
            }
        }
    EXPECT_GE(sums, 10);
    EXPECT_GE(refused, 10);
    EXPECT_GE(postNorm, 4) << "also without sensory heads";
}

INSTANTIATE_TEST_SUITE_P(Types, AttributionSums, testing::Values(torch::kFloat, torch::kDouble),
                         [](const auto& info) {
                             return info.param == torch::kFloat ? "float32" : "float64";
                         });

// Edits without the norm between: with a stream that no part reads again, leaving a part of the
// last layer out takes away exactly its share.
TEST(Attribution, PartsOfTheLastLayerAreWhatIsLostWithoutThem) {
    int seen = 0;
    for (const auto& [name, base] : smallModels()) {
        const bool pairs = base.architecture() == "Seq2SeqDualAttnTransformer";
        if (!pairs && base.architecture() != "VisionDualAttnTransformer") continue;
        auto options = base;
        put(options, "final_norm", false), put(options, "norm_type", "none");
        put(options, "decoder.norm_type", "none");
        put(options, "n_relations", 3), put(options, "rel_proj_dim", 3);
        auto model = drawn(options, torch::kDouble);
        {
            // A feed-forward without effect, which would read what is left out.
            const torch::NoGradGuard noGrad;
            for (auto& item : model->named_parameters())
                if (item.key().find("linear2.weight") != std::string::npos) item.value().zero_();
        }
        const std::string block = pairs ? "decoder.0" : "blocks.0";
        const auto input = smallBatch(options, 1, torch::kDouble);
        const auto found = attributeLogit(*model, options, input, {2, 0});
        for (const auto& part : found.parts) {
            Edit edit;
            const auto fix = [&](const char* axis, std::int64_t place) {
                edit.selection[axis].places = {place};
            };
            // Heads that the cross heads read again lose more than their own share.
            if (pairs && part.kind != PartKind::CrossHead && part.kind != PartKind::FeedForward)
                continue;
            double beside = 0.0;
            switch (part.kind) {
                case PartKind::SensoryHead:
                    edit.point = block + ".attn.hook_z", fix("head", part.head);
                    break;
                case PartKind::RelationalHead:
                    edit.point = block + ".rel.hook_z", fix("head", part.head);
                    break;
                case PartKind::CrossHead:
                    edit.point = block + ".cross_attn.hook_z", fix("head", part.head);
                    break;
                case PartKind::Symbols:
                    edit.point = block + ".rel.hook_z_sym", fix("head", part.head);
                    break;
                case PartKind::Relation:
                    edit.point = block + ".rel.hook_attended_r";
                    fix("head", part.head), fix("relation", part.relation);
                    break;
                case PartKind::FeedForward:
                    edit.point = block + ".hook_mlp_out";
                    for (const auto& other : found.parts)
                        if (other.where == "the feed-forward") beside = other.value;
                    break;
                default:
                    continue;
            }
            EditList list;
            list.edits = {edit};
            Editor editor(list);
            const torch::NoGradGuard noGrad;
            auto scores = forwardEdited(*model, input, editor)[0];
            if (pairs) scores = scores[-1];
            const double lost = found.logit - (scores[2] - scores[0]).item<double>();
            EXPECT_NEAR(part.value + beside, lost, 1e-9 * std::max(1.0, largest(found)))
                << name << " " << part.text();
            ++seen;
        }
    }
    EXPECT_GE(seen, 2 * (2 + 2 + 2 + 2 * 3 + 1) + 2 * (4 + 1));
}

TEST(Attribution, NamesEveryPartOnce) {
    for (const auto& [name, options] : preNormModels()) {
        auto model = drawn(options, torch::kFloat);
        const auto found = attributeLogit(*model, options, smallBatch(options, 1), {1});
        std::vector<std::string> names;
        for (const auto& part : found.parts) names.push_back(part.text());
        std::sort(names.begin(), names.end());
        EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << name;
    }
    AttributionPart part{PartKind::Relation, 1, 0, 2, {}, 0.5};
    EXPECT_EQ(part.text(), "layer 2 relational head 1 relation 3");
    EXPECT_TRUE(part.inside());
    EXPECT_EQ((AttributionPart{PartKind::Bias, -1, -1, -1, "the final norm", 0.0}.text()),
              "bias of the final norm");
}

TEST(Attribution, SaysWhyAModelHasNone) {
    const auto said = [](const ModelOptions& options, const AttributionOptions& what) {
        auto model = drawn(options, torch::kFloat);
        try {
            attributeLogit(*model, options, smallBatch(options, 1), what);
        } catch (const OptionError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const auto& [name, options] : smallModels()) {
        const auto& architecture = options.architecture();
        if (architecture.find("Abstractor") != std::string::npos &&
            architecture != "FixedRelationAbstractor") {
            EXPECT_NE(said(options, {}).find("those of an Abstractor"), std::string::npos) << name;
        } else if (architecture == "DualAttnTransformerLM" &&
                   name.find("post-norm") != std::string::npos) {
            EXPECT_NE(said(options, {}).find("no fixed sum of parts"), std::string::npos) << name;
        } else if (architecture == "CoRelNet") {
            EXPECT_NE(said(options, {}).find("has no residual stream"), std::string::npos);
        } else if (architecture == "TransformerLM") {
            EXPECT_NE(said(options, {7}).find("logit: there is no answer 7"), std::string::npos);
            EXPECT_NE(said(options, {1, 7}).find("minus: there is no answer 7"), std::string::npos);
            EXPECT_NE(said(options, {1, -1, 5}).find("position: 5 is out of range"),
                      std::string::npos);
        } else if (architecture == "VisionTransformer") {
            EXPECT_NE(said(options, {1, -1, 0}).find("one answer for the whole input"),
                      std::string::npos);
        }
    }
}

}  // namespace
}  // namespace relascope
