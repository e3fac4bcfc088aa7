// SPDX-License-Identifier: GPL-3.0-or-later
// The families of golden/families: what their configurations say and lack, what is refused and how,
// and the types that do not open. Their numbers are those of golden_test.cpp, what holds of every
// family is in public_families_test.cpp.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/start_from.h"
#include "model/blocks/block_details.h"
#include "model/decode/generate.h"
#include "model/model.h"
#include "model/public/family.h"
#include "options/family_ledger.h"
#include "support/golden_copy.h"
#include "support/rooms.h"
#include "types/run_options.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;

const std::string kFurther = std::string(RELASCOPE_FIXTURES) + "/golden/families/";

void expectNamed(const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(FurtherFamilies, RefuseWhatFurtherFamiliesDoNotCompute) {
    struct Refused {
        const char *name, *key;
        Json value;
        std::vector<std::string> parts;
    };
    const std::vector<Refused> all = {
        {"qwen3_window_yarn", "layer_types", {"full_attention"}, {"layer_types", "3", "1"}},
        {"qwen3_window_yarn",
         "layer_types",
         {"full_attention", "sliding_attention", "chunked_attention"},
         {"layer_types", "chunked_attention", "sliding_attention"}},
        {"qwen3_window_yarn", "sliding_window", nullptr, {"sliding_window", "2 of the 3"}},
        {"qwen3_window_yarn", "sliding_window", 0, {"sliding_window", "0"}},
        {"qwen3_window_yarn", "rope_scaling", {{"rope_type", "dynamic"}}, {"dynamic", "yarn"}},
        {"qwen3_window_yarn",
         "rope_scaling",
         {{"rope_type", "yarn"}, {"factor", -1.0}},
         {"rope_scaling.factor", "-1"}},
        {"qwen3", "rope_scaling", {{"rope_type", "longrope"}}, {"longrope", "yarn"}},
        {"smollm3", "no_rope_layers", {1, 0}, {"no_rope_layers", "4"}},
        {"smollm3", "no_rope_layer_interval", 0, {"no_rope_layer_interval", "0"}},
        {"granite", "residual_multiplier", 0.0, {"residual_multiplier", "0.0"}},
        {"granite", "logits_scaling", -2.0, {"logits_scaling", "-2.0"}},
        {"phi3_longrope",
         "rope_scaling",
         {{"type", "su"}, {"short_factor", {1.0}}, {"long_factor", {1.0, 1.0, 1.0, 1.0}}},
         {"rope_scaling.short_factor", "1 numbers", "4"}},
        {"phi3_longrope",
         "rope_scaling",
         {{"type", "yarn"}, {"short_factor", {1, 1, 1, 0}}, {"long_factor", {1, 1, 1, 1}}},
         {"short_factor", "0"}},
        {"phi3_window", "partial_rotary_factor", 0.5, {"partial_rotary_factor", "9"}},
        {"starcoder2_window", "hidden_act", "relu", {"hidden_act", "relu"}},
        {"gemma", "hidden_act", "silu", {"hidden_act", "silu"}},
        {"gemma2", "hidden_activation", "gelu", {"hidden_activation", "gelu_pytorch_tanh"}},
        {"gemma2", "attn_logit_softcapping", 0.0, {"attn_logit_softcapping", "0.0"}},
        {"gemma2", "query_pre_attn_scalar", 0, {"query_pre_attn_scalar", "0"}},
        {"gemma3_text", "attn_logit_softcapping", 30.0, {"attn_logit_softcapping", "30.0"}},
        {"gemma3_text", "use_bidirectional_attention", true, {"use_bidirectional_attention"}},
        {"gemma3_text", "sliding_window_pattern", 0, {"sliding_window_pattern", "0"}},
        {"gemma3_multimodal", "text_config", "no object", {"text_config", "no object"}},
        {"gemma3_multimodal", "architectures", {"Gemma3Model"}, {"Gemma3Model"}},
        {"olmo3_yarn", "rope_theta", nullptr, {"rope_theta", "10000", "500000"}},
        {"cohere", "rope_theta", nullptr, {"rope_theta", "versions"}},
        {"olmo_clipped", "clip_qkv", -1.0, {"clip_qkv", "-1.0"}},
        {"falcon_40b", "parallel_attn", false, {"parallel_attn", "new_decoder_architecture"}},
        {"falcon_40b", "activation", "relu", {"activation", "relu"}},
        {"falcon_40b", "num_kv_heads", 3, {"3", "4"}},
        {"bloom",
         "apply_residual_connection_post_layernorm",
         true,
         {"apply_residual_connection_post_layernorm"}},
        {"opt", "layer_norm_elementwise_affine", false, {"layer_norm_elementwise_affine"}},
        {"opt", "activation_function", "gelu", {"activation_function", "relu"}},
        {"gptj", "rotary_dim", nullptr, {"rotary_dim", "null"}},
        {"gptj", "rotary_dim", 7, {"rotary_dim", "7"}},
        {"glm", "partial_rotary_factor", 2.0, {"partial_rotary_factor", "2.0"}},
        {"mixtral", "num_experts_per_tok", 6, {"num_experts_per_tok", "6", "5"}},
        {"mixtral", "num_local_experts", 0, {"num_local_experts", "0"}},
        {"mixtral", "num_local_experts", 1000000, {"num_local_experts", "4096"}},
        {"qwen3_moe", "mlp_only_layers", 3, {"mlp_only_layers", "3"}},
        {"qwen3_moe", "decoder_sparse_step", 0, {"decoder_sparse_step", "0"}},
    };
    for (const auto& refused : all) {
        SCOPED_TRACE(std::string(refused.name) + " " + refused.key);
        const testing_support::GoldenCopy copy(std::string("families/") + refused.name);
        copy.json("config.json", [&](Json& c) { c[refused.key] = refused.value; });
        const auto problem = copy.problem();
        expectNamed(problem, refused.parts);
        EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
        EXPECT_THROW(core::OpenedModel(copy.path(), "", "cpu"), Error);
    }
}

TEST(FurtherFamilies, SayWhatToDoWithTypesThatDoNotOpen) {
    const auto problemOf = [](Json config) {
        const testing_support::GoldenCopy copy("public/llama_gqa_untied");
        copy.json("config.json", [&](Json& c) {
            for (const auto& [key, value] : config.items()) c[key] = value;
        });
        return copy.problem();
    };
    expectNamed(problemOf({{"model_type", "mamba"}}),
                {"is 'mamba', whose layers have no attention to show; these open: gpt2", "qwen3"});
    expectNamed(problemOf({{"model_type", "deepseek_v3"}, {"kv_lora_rank", 8}}),
                {"makes keys of latent vectors (kv_lora_rank 8), which is not computed here",
                 "relascope.watch"});
    expectNamed(problemOf({{"model_type", "gpt_oss"}}),
                {"has a sink in each head and clamped experts, not computed here"});
    expectNamed(problemOf({{"model_type", "qwen3_next"},
                           {"layer_types",
                            {"linear_attention", "linear_attention", "linear_attention",
                             "full_attention"}}}),
                {"3 of its 4 layers are linear_attention", "relascope.watch"});
    expectNamed(problemOf({{"model_type", "brand_new"}}),
                {"brand_new", "relascope.watch", "olmo2"});
    EXPECT_EQ(core::unopenedText("qwen3", Json::object()), "");
    // Each family is known to open, or known not to.
    for (const auto& [type, part] : core::unopenedFamilies())
        EXPECT_EQ(core::findFamily(type), nullptr) << type;
    EXPECT_EQ(core::familyLedger().size(), core::families().size());
}

// model_type alone is the model of the class's defaults.
TEST(FurtherFamilies, HaveTheDefaultsOfTheirClasses) {
    struct Defaults {
        const char* type;
        std::vector<std::int64_t>
            sizes;  // words, d, ff, layers, heads, kv heads, head_dim, context
        double eps, theta;
        bool tied;
    };
    const std::vector<Defaults> all = {
        {"gemma", {256000, 3072, 24576, 28, 16, 16, 256, 8192}, 1e-6, 1e4, true},
        {"gemma2", {256000, 2304, 9216, 26, 8, 4, 256, 8192}, 1e-6, 1e4, true},
        {"gemma3_text", {262208, 2304, 9216, 26, 8, 4, 256, 131072}, 1e-6, 1e6, true},
        {"qwen3", {151936, 4096, 22016, 32, 32, 32, 128, 32768}, 1e-6, 1e4, false},
        {"qwen3_moe", {151936, 2048, 6144, 24, 32, 4, 0, 32768}, 1e-6, 1e4, false},
        {"olmo", {50304, 4096, 11008, 32, 32, 0, 0, 2048}, 1e-5, 1e4, false},
        {"olmo2", {50304, 4096, 11008, 32, 32, 0, 0, 2048}, 1e-5, 1e4, false},
        {"smollm3", {128256, 2048, 11008, 36, 16, 4, 0, 32768}, 1e-6, 2e6, true},
        {"starcoder2", {49152, 3072, 12288, 30, 24, 2, 0, 4096}, 1e-5, 1e4, true},
        {"granite", {32000, 4096, 11008, 32, 32, 0, 0, 2048}, 1e-6, 1e4, false},
        {"phi3", {32064, 3072, 8192, 32, 32, 0, 0, 4096}, 1e-5, 1e4, false},
        {"glm", {151552, 4096, 13696, 40, 32, 2, 128, 131072}, 1.5625e-7, 1e4, false},
        {"glm4", {151552, 4096, 13696, 40, 32, 2, 128, 131072}, 1.5625e-7, 1e4, false},
        {"falcon", {65024, 4544, 0, 32, 71, 1, 0, 2048}, 1e-5, 1e4, true},
        {"bloom", {250880, 64, 0, 2, 8, 0, 0, 2048}, 1e-5, 1e4, true},
        {"opt", {50272, 768, 3072, 12, 12, 0, 0, 2048}, 1e-5, 1e4, true},
        {"gptj", {50400, 4096, 0, 28, 16, 0, 0, 2048}, 1e-5, 1e4, false},
        {"stablelm", {50304, 2560, 6912, 32, 32, 32, 0, 4096}, 1e-5, 1e4, false},
        {"mixtral", {32000, 4096, 14336, 32, 32, 8, 0, 131072}, 1e-5, 1e6, false},
        {"olmoe", {50304, 2048, 2048, 16, 16, 0, 0, 4096}, 1e-5, 1e4, false}};
    for (const auto& one : all) {
        SCOPED_TRACE(one.type);
        const auto m = core::modelOfFamily(*core::findFamily(one.type), Json::object());
        std::size_t at = 0;
        for (const char* field : {"vocab_size", "d_model", "dff", "n_layers", "n_heads_sa",
                                  "sa_n_kv_heads", "head_dim", "max_block_size"})
            EXPECT_EQ(m.number(field), one.sizes[at++]) << field;
        EXPECT_EQ(std::get<double>(m.value("norm_eps")), one.eps);
        EXPECT_EQ(std::get<double>(m.value("rope_theta")), one.theta);
        EXPECT_EQ(std::get<bool>(m.value("tie_word_embeddings")), one.tied);
    }
    const auto text = [](const char* type, const char* field) {
        return std::get<std::string>(
            core::modelOfFamily(*core::findFamily(type), Json::object()).value(field));
    };
    EXPECT_EQ(text("gemma2", "layer_kinds"), "WFWFWFWFWFWFWFWFWFWFWFWFWF");
    EXPECT_EQ(text("gemma3_text", "layer_kinds"), "WWWWWFWWWWWFWWWWWFWWWWWFWW");
    EXPECT_EQ(text("smollm3", "layer_kinds").substr(0, 8), "FFFfFFFf");
    EXPECT_EQ(text("qwen3", "layer_kinds"), "");
}

TEST(FurtherFamilies, SayWhatIsWrongWithTensorsOfFurtherFamilies) {
    const auto problemOf = [](const std::string& name, const auto& change) {
        testing_support::GoldenCopy copy("families/" + name);
        copy.tensors(change);
        return copy.problem();
    };
    // Gate and up in one tensor of another size, a missing expert, all experts in one.
    expectNamed(problemOf("glm",
                          [](auto& all) {
                              all["model.layers.0.mlp.gate_up_proj.weight"] = torch::ones({87, 32});
                          }),
                {"model.layers.0.mlp.gate_up_proj.weight", "[87, 32]", "[88, 32]"});
    const std::string expert = "model.layers.1.block_sparse_moe.experts.3.w2.weight";
    expectNamed(problemOf("mixtral", [&](auto& all) { all.erase(expert); }), {expert, "[32, 20]"});
    expectNamed(
        problemOf("olmoe",
                  [](auto& all) {
                      all["model.layers.0.mlp.experts.gate_up_proj"] = torch::ones({6, 32, 32});
                  }),
        {"model.layers.0.mlp.experts.gate_up_proj", "save_pretrained"});
    const std::string norm = "model.layers.0.self_attn.q_layernorm.norms.3.weight";
    expectNamed(problemOf("stablelm_parallel", [&](auto& all) { all.erase(norm); }), {norm, "[8]"});
    // The same weights under two prefixes.
    expectNamed(problemOf("bloom",
                          [](auto& all) {
                              all["transformer.ln_f.weight"] = all.at("ln_f.weight").clone();
                          }),
                {"ln_f.weight"});
    expectNamed(problemOf("qwen3", [](auto& all) { all.erase("lm_head.weight"); }),
                {"lm_head.weight"});
}

// The frequencies of a longrope model change where a text grows past its original context, from the
// first token on.
TEST(FurtherFamilies, ReadATextAnewThatGrowsPastItsContext) {
    const auto source = CheckpointSource::open(kFurther + "phi3_longrope");
    const auto options = checkpointModel(*source);
    auto model = makeModel(options);
    loadWeights(*model, options, *source);
    model->eval();
    const auto text =
        readTensors(kFurther + "phi3_longrope/io.safetensors").at("long/tokens").slice(0, 0, 1);
    const auto* ids = text.const_data_ptr<std::int64_t>();
    const torch::NoGradGuard noGrad;
    const auto context = options.get<BlockDetails>().rope_original;
    ASSERT_GT(text.size(1), context + 2);
    LanguageReader reader(*model, options);
    std::vector<std::int64_t> next(ids, ids + context - 2);
    for (auto at = context - 2; at < context + 3; ++at) {
        const auto logits = reader.read(next);
        const auto whole = model->forward(text.slice(1, 0, at)).select(1, -1)[0];
        EXPECT_LT((logits - whole).abs().max().item<float>(), 2e-5F) << at;
        next = {ids[at]};
    }
}

TEST(FurtherFamilies, SayWhatOfALargerModelIsNotUsed) {
    const auto info = readCheckpointInfo(kFurther + "gemma3_multimodal");
    EXPECT_TRUE(info.loads());
    expectNamed(info.title,
                {"Gemma 3, the text part; ", " tensors of its image tower are not used"});
    EXPECT_EQ(info.unusedKeys, std::vector<std::string>{});
    // Neither this nor models with experts go on in training.
    for (const char* name : {"gemma3_multimodal", "mixtral"}) {
        RunOptions run;
        try {
            core::startFrom(run, kFurther + name);
            ADD_FAILURE() << name;
        } catch (const OptionError& error) {
            expectNamed(error.what(), {"train.init_from"});
        }
    }
}

}  // namespace
}  // namespace relascope
