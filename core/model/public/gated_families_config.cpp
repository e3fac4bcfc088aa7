// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of language models that are Llama's but for some options. Keys, defaults and names of
// tensors are those of the `transformers` package 4.57.
#include <algorithm>
#include <cmath>

#include "model/public/family_tables.h"

namespace relascope::core {
namespace {

using namespace tables;
using N = std::int64_t;

// Llama with another name, and defaults.
Family like(Family f, const char* type, const char* title, const char* name,
            std::initializer_list<std::pair<const char*, FieldValue>> values) {
    f.type = type, f.title = title, f.classes = {name};
    absent(f, values);
    return f;
}

void addQueryNorm(Family& f, const char* kind) {
    fix(f, "qk_norm", std::string(kind));
    f.tensors.push_back({"layers.I.self_attn.q_norm", parts({"self_attn.q_norm"})});
    f.tensors.push_back({"layers.I.self_attn.k_norm", parts({"self_attn.k_norm"})});
}

void addWindow(Family& f, N width) {
    replace(f, {{"sliding_window"}, "sliding_window", width, kNone});
}

// Gate and up as one tensor.
void joinGate(Family& f) {
    keep(f, "layers.I.mlp.gate_proj",
         {"layers.I.mlp.gate_up_proj", parts({"ff_block.linear1", "ff_block.linear3"}),
          StoredForm::Rows});
    drop(f, "layers.I.mlp.up_proj");
}

// Biases of queries, keys and values by a key, and none of the output.
void inputBiases(Family& f, const char* key, bool value) {
    fix(f, "bias", false);
    for (const char* option : {"sa_add_bias_q", "sa_add_bias_kv"})
        replace(f, {{key}, option, value});
    fix(f, "ff_bias", false);
}

Family qwen3() {
    auto f = like(llama(), "qwen3", "Qwen3", "Qwen3ForCausalLM",
                  {{"vocab_size", N{151936}},
                   {"dff", N{22016}},
                   {"sa_n_kv_heads", N{32}},
                   {"head_dim", N{128}},
                   {"max_block_size", N{32768}}});
    fix(f, "ff_bias", false);
    addQueryNorm(f, "head");
    addWindow(f, 4096);
    f.windowSwitch = "use_sliding_window";
    f.kinds = [](const ModelOptions& m, FamilyConfig& c) {
        const auto layers = m.number("n_layers"),
                   whole = std::min(c.count("max_window_layers", 28), layers);
        return std::string(static_cast<std::size_t>(whole), 'F') +
               std::string(static_cast<std::size_t>(layers - whole), 'W');
    };
    return f;
}

Family smollm3() {
    auto f = like(llama(), "smollm3", "SmolLM3", "SmolLM3ForCausalLM",
                  {{"vocab_size", N{128256}},
                   {"d_model", N{2048}},
                   {"n_layers", N{36}},
                   {"n_heads_sa", N{16}},
                   {"sa_n_kv_heads", N{4}},
                   {"max_block_size", N{32768}},
                   {"rope_theta", 2e6},
                   {"tie_word_embeddings", true}});
    addWindow(f, kNone);
    f.windowSwitch = "use_sliding_window";
    f.kinds = [](const ModelOptions& m, FamilyConfig& c) {
        const auto layers = m.number("n_layers"), each = c.count("no_rope_layer_interval", 4);
        const auto* list = c.find("no_rope_layers");  // 1: has rotary positions
        if (list && (!list->is_array() || static_cast<N>(list->size()) != layers))
            c.refuse("no_rope_layers", "a list of " + std::to_string(layers) +
                                           " numbers, as num_hidden_layers says, would open");
        std::string letters;
        for (N i = 0; i < layers; ++i) {
            const bool turns =
                list ? (*list)[static_cast<std::size_t>(i)] != 0 : (i + 1) % each != 0;
            letters += turns ? 'F' : 'w';
        }
        return letters;
    };
    return f;
}

Family granite() {
    auto f = like(llama(), "granite", "Granite", "GraniteForCausalLM", {});
    replace(f, {{"embedding_multiplier"}, "embed_scale", 1.0});
    replace(f, {{"attention_multiplier"}, "score_scale", 1.0});
    replace(f, {{"residual_multiplier"}, "residual_scale", 1.0});
    FamilyKey scaling{{"logits_scaling"}, "logit_scale", 1.0};
    scaling.made = [](const FieldValue& value) -> FieldValue {
        return 1.0 / std::get<double>(value);
    };
    replace(f, scaling);
    return f;
}

Family phi3() {
    auto f = like(llama(), "phi3", "Phi-3", "Phi3ForCausalLM",
                  {{"vocab_size", N{32064}},
                   {"d_model", N{3072}},
                   {"dff", N{8192}},
                   {"max_block_size", N{4096}},
                   {"norm_eps", 1e-5}});
    for (const char* option : {"bias", "sa_add_bias_q", "sa_add_bias_kv", "ff_bias"})
        fix(f, option, false);
    addWindow(f, kNone);
    f.rotaryShare = "partial_rotary_factor", f.longRope = 4096;
    f.neutral = {"original_max_position_embeddings"};
    keep(f, "layers.I.self_attn.q_proj",
         {"layers.I.self_attn.qkv_proj", queriesKeysValues(), StoredForm::Rows});
    for (const char* name : {"layers.I.self_attn.k_proj", "layers.I.self_attn.v_proj"})
        drop(f, name);
    joinGate(f);
    return f;
}

Family gemma() {
    auto f = like(llama(), "gemma", "Gemma", "GemmaForCausalLM",
                  {{"vocab_size", N{256000}},
                   {"d_model", N{3072}},
                   {"dff", N{24576}},
                   {"n_layers", N{28}},
                   {"n_heads_sa", N{16}},
                   {"sa_n_kv_heads", N{16}},
                   {"head_dim", N{256}},
                   {"max_block_size", N{8192}},
                   {"tie_word_embeddings", true}});
    fix(f, "ff_bias", false);
    fix(f, "norm_plus_one", true);
    fix(f, "activation", std::string("geglu"));
    // The first files say gelu and mean its tanh form.
    f.limits = {{"hidden_act", {"gelu_pytorch_tanh", "gelu_new", "gelu"}}};
    f.neutral = {"hidden_activation"};
    f.settle = [](ModelOptions& m, FamilyConfig&) {
        m.set("embed_scale", std::sqrt(static_cast<double>(m.number("d_model"))));
    };
    return f;
}

Family gemma2() {
    auto f = like(gemma(), "gemma2", "Gemma 2", "Gemma2ForCausalLM",
                  {{"d_model", N{2304}},
                   {"dff", N{9216}},
                   {"n_layers", N{26}},
                   {"n_heads_sa", N{8}},
                   {"sa_n_kv_heads", N{4}}});
    fix(f, "norm_behind", true);
    FamilyKey scalar{{"query_pre_attn_scalar"}, "score_scale", 256.0};
    scalar.made = [](const FieldValue& value) -> FieldValue {
        return 1.0 / std::sqrt(std::get<double>(value));
    };
    replace(f, scalar);
    replace(f, {{"attn_logit_softcapping"}, "score_cap", 50.0, 0.0});
    replace(f, {{"final_logit_softcapping"}, "soft_cap", 30.0, 0.0});
    addWindow(f, 4096);
    f.kinds = [](const ModelOptions&, FamilyConfig&) { return std::string("WF"); };
    f.limits = {{"hidden_activation", {"gelu_pytorch_tanh"}}};
    f.neutral = {"hidden_act"};
    keep(f, "layers.I.post_attention_layernorm",
         {"layers.I.post_attention_layernorm", parts({"norm1_behind"})});
    f.tensors.push_back({"layers.I.pre_feedforward_layernorm", parts({"norm2"})});
    f.tensors.push_back({"layers.I.post_feedforward_layernorm", parts({"norm2_behind"})});
    return f;
}

Family gemma3Text() {
    auto f = like(gemma2(), "gemma3_text", "Gemma 3", "Gemma3ForCausalLM",
                  {{"vocab_size", N{262208}},
                   {"max_block_size", N{131072}},
                   {"rope_theta", 1e6},
                   {"soft_cap", 0.0}});
    std::erase_if(f.keys, [](const auto& key) { return key.option == "score_cap"; });
    f.limits.push_back(
        {"attn_logit_softcapping", {nullptr}, "a Gemma 3 has no cap of scores; leave it out"});
    replace(f, {{"rope_local_base_freq"}, "local_rope_theta", 10000.0});
    addQueryNorm(f, "head");
    f.kinds = [](const ModelOptions&, FamilyConfig& c) {
        const auto each = std::min<N>(c.count("sliding_window_pattern", 6), 100000);
        return std::string(static_cast<std::size_t>(each - 1), 'W') + "F";
    };
    return f;
}

// Gemma 3 with pictures, of which the text part opens.
Family gemma3() {
    auto f = gemma3Text();
    f.type = "gemma3", f.title = "Gemma 3, the text part";
    f.classes = {"Gemma3ForConditionalGeneration"};
    f.inner = "text_config", f.innerText = "of its image tower";
    f.prefix = "language_model.model.", f.otherPrefixes = {"model.language_model."};
    for (auto& tensor : f.tensors)
        if (tensor.outside) tensor.also = "language_model.lm_head";
    f.ignored.push_back("vision_tower.*");
    f.ignored.push_back("multi_modal_projector.*");
    return f;
}

Family olmo() {
    auto f = like(llama(), "olmo", "OLMo", "OlmoForCausalLM", {{"vocab_size", N{50304}}});
    fix(f, "ff_bias", false);
    fix(f, "norm_type", std::string("layernorm_no_weight"));
    fix(f, "norm_eps", 1e-5);
    replace(f, {{"clip_qkv"}, "clip_qkv", 0.0});
    return f;
}

Family olmo2() {
    auto f = like(llama(), "olmo2", "OLMo 2", "Olmo2ForCausalLM",
                  {{"vocab_size", N{50304}}, {"norm_eps", 1e-5}});
    fix(f, "ff_bias", false);
    fix(f, "norm_before", false);
    fix(f, "norm_behind", true);
    addQueryNorm(f, "all");
    drop(f, "layers.I.input_layernorm");
    keep(f, "layers.I.post_attention_layernorm",
         {"layers.I.post_attention_layernorm", parts({"norm1_behind"})});
    f.tensors.push_back({"layers.I.post_feedforward_layernorm", parts({"norm2_behind"})});
    return f;
}

Family olmo3() {
    auto f = like(olmo2(), "olmo3", "OLMo 3", "Olmo3ForCausalLM", {});
    replace(f, {{"rope_theta"}, "rope_theta", 0.0});  // refused: versions differ
    addWindow(f, 4096);
    f.kinds = [](const ModelOptions&, FamilyConfig&) { return std::string("WWWF"); };
    f.settle = [](ModelOptions& m, FamilyConfig&) {  // never scaled
        auto& o = m.get<PublicDecoderOptions>();
        if (o.local_rope_theta == 0.0) o.local_rope_theta = o.rope_theta;
    };
    return f;
}

Family glm() {
    auto f = like(llama(), "glm", "GLM", "GlmForCausalLM",
                  {{"vocab_size", N{151552}},
                   {"dff", N{13696}},
                   {"n_layers", N{40}},
                   {"sa_n_kv_heads", N{2}},
                   {"head_dim", N{128}},
                   {"max_block_size", N{131072}},
                   {"norm_eps", 1.5625e-7}});
    inputBiases(f, "attention_bias", true);
    fix(f, "rotary_halves", false);
    f.rotaryShare = "partial_rotary_factor", f.rotaryShareAbsent = 0.5;
    joinGate(f);
    return f;
}

Family glm4() {
    auto f = like(glm(), "glm4", "GLM-4", "Glm4ForCausalLM", {});
    fix(f, "norm_behind", true);
    f.tensors.push_back({"layers.I.post_self_attn_layernorm", parts({"norm1_behind"})});
    f.tensors.push_back({"layers.I.post_mlp_layernorm", parts({"norm2_behind"})});
    return f;
}

Family stablelm() {
    auto f = like(llama(), "stablelm", "StableLM", "StableLmForCausalLM",
                  {{"vocab_size", N{50304}},
                   {"d_model", N{2560}},
                   {"dff", N{6912}},
                   {"sa_n_kv_heads", N{32}},
                   {"max_block_size", N{4096}}});
    inputBiases(f, "use_qkv_bias", false);
    fix(f, "norm_type", std::string("layernorm"));
    fix(f, "qk_norm_type", std::string("layernorm_no_bias"));
    replace(f, {{"layer_norm_eps"}, "norm_eps", 1e-5});
    f.rotaryShare = "partial_rotary_factor", f.rotaryShareAbsent = 0.25;
    for (const char* option : {"parallel_residual", "one_norm"})
        replace(f, {{"use_parallel_residual"}, option, false});
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        m.set("qk_norm", std::string(c.flag("qk_layernorm", false) ? "heads" : "none"));
    };
    for (const auto& [stored, part] :
         {std::pair{"q_layernorm", "self_attn.q_norm"}, {"k_layernorm", "self_attn.k_norm"}})
        f.tensors.push_back(
            {std::string("layers.I.self_attn.") + stored + ".norms.J", parts({part})});
    return f;
}

Family cohere() {
    auto f = like(llama(), "cohere", "Cohere", "CohereForCausalLM",
                  {{"vocab_size", N{256000}},
                   {"d_model", N{8192}},
                   {"dff", N{22528}},
                   {"n_layers", N{40}},
                   {"n_heads_sa", N{64}},
                   {"max_block_size", N{8192}},
                   {"tie_word_embeddings", true}});
    replace(f, {{"rope_theta"}, "rope_theta", 0.0});  // refused: versions differ
    replace(f, {{"layer_norm_eps"}, "norm_eps", 1e-5});
    replace(f, {{"logit_scale"}, "logit_scale", 0.0625});
    fix(f, "ff_bias", false);
    fix(f, "norm_type", std::string("layernorm_no_bias"));
    fix(f, "rotary_halves", false);
    fix(f, "parallel_residual", true);
    fix(f, "one_norm", true);
    addQueryNorm(f, "none");
    fix(f, "qk_norm_type", std::string("layernorm_no_bias"));
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        m.set("qk_norm", std::string(c.flag("use_qk_norm", false) ? "heads" : "none"));
    };
    return f;
}

}  // namespace

const std::vector<Family>& gatedFamilies() {
    static const std::vector<Family> all = {
        qwen3(), smollm3(), granite(), phi3(), gemma(), gemma2(),   gemma3Text(), gemma3(),
        olmo(),  olmo2(),   olmo3(),   glm(),  glm4(),  stablelm(), cohere()};
    return all;
}

}  // namespace relascope::core
