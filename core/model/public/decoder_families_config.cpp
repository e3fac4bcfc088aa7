// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of language models: GPT-2, Llama, Mistral, Qwen2, GPT-NeoX. Keys, defaults and names
// of tensors are those of the `transformers` package 4.57.
#include <algorithm>

#include "model/public/family_tables.h"

namespace relascope::core {
namespace tables {

std::vector<std::string> parts(std::initializer_list<const char*> names) {
    std::vector<std::string> all;
    for (const char* name : names) all.push_back(std::string("layers.blocks.I.") + name);
    return all;
}

std::vector<std::string> queriesKeysValues() {
    return parts({"self_attn.wq", "self_attn.wk", "self_attn.wv"});
}

void replace(Family& f, const FamilyKey& key) {
    for (auto& own : f.keys)
        if (own.option == key.option) {
            own = key;
            return;
        }
    f.keys.push_back(key);
}

void fix(Family& f, const std::string& option, const FieldValue& value) {
    std::erase_if(f.keys, [&](const FamilyKey& key) { return key.option == option; });
    f.fixed.emplace_back(option, value);
}

void absent(Family& f, std::initializer_list<std::pair<const char*, FieldValue>> values) {
    for (const auto& [option, value] : values)
        for (auto& key : f.keys)
            if (key.option == option) {
                if (key.null == key.absent && key.null != FieldValue(kNone)) key.null = value;
                key.absent = value;
            }
}

void keep(Family& f, const std::string& stored, const FamilyTensor& instead) {
    const auto at = std::find_if(f.tensors.begin(), f.tensors.end(),
                                 [&](const auto& tensor) { return tensor.stored == stored; });
    if (at != f.tensors.end()) *at = instead;
}

void drop(Family& f, const std::string& beginning) {
    std::erase_if(f.tensors,
                  [&](const auto& tensor) { return tensor.stored.starts_with(beginning); });
}

}  // namespace tables

namespace {

using namespace tables;

Family gpt2() {
    Family f;
    f.type = "gpt2", f.title = "GPT-2", f.architecture = kPublicDecoder;
    f.classes = {"GPT2LMHeadModel"};
    f.prefix = "transformer.";
    f.fixed = {{"pos_enc_type", std::string("pos_emb")},
               {"norm_type", std::string("layernorm")},
               {"activation", std::string("gelu")},
               {"bias", true},
               {"sa_add_bias_q", true},
               {"sa_add_bias_kv", true},
               {"ff_bias", true}};
    f.keys = {{{"vocab_size"}, "vocab_size", std::int64_t{50257}},
              {{"n_embd", "hidden_size"}, "d_model", std::int64_t{768}},
              {{"n_layer", "num_hidden_layers"}, "n_layers", std::int64_t{12}},
              {{"n_head", "num_attention_heads"}, "n_heads_sa", std::int64_t{12}},
              {{"n_positions", "max_position_embeddings"}, "max_block_size", std::int64_t{1024}},
              {{"n_inner"}, "dff", kNone},
              {{"layer_norm_epsilon"}, "norm_eps", 1e-5},
              {{"tie_word_embeddings"}, "tie_word_embeddings", true}};
    f.limits = {{"activation_function", {"gelu_new", "gelu_pytorch_tanh"}},
                {"scale_attn_weights", {true}},
                {"scale_attn_by_inverse_layer_idx", {false}}};
    f.tensors = {{"wte", {"layers.token_embedder"}},
                 {"wpe", {"layers.positional_embedder"}},
                 {"h.I.ln_1", parts({"norm1"})},
                 {"h.I.attn.c_attn", queriesKeysValues(), StoredForm::Thirds},
                 {"h.I.attn.c_proj", parts({"self_attn.wo"}), StoredForm::Transposed},
                 {"h.I.ln_2", parts({"norm2"})},
                 {"h.I.mlp.c_fc", parts({"ff_block.linear1"}), StoredForm::Transposed},
                 {"h.I.mlp.c_proj", parts({"ff_block.linear2"}), StoredForm::Transposed},
                 {"ln_f", {"layers.norm"}},
                 {"lm_head", {"layers.final_out"}, StoredForm::Plain, true}};
    f.ignored = {"h.I.attn.bias", "h.I.attn.masked_bias"};
    return f;
}

// GPT-2 as nanoGPT's train.py saves it: Linear layers in place of Conv1D, the exact GELU, and
// biases, those of norms too, only where `bias` says so. Names and keys are those of its model.py.
Family nanoGpt() {
    auto f = gpt2();
    f.type = "nanogpt", f.title = "nanoGPT", f.classes = {};
    f.keysOf = {"n_layer", "n_head", "n_embd", "block_size"};
    f.fixed = {{"pos_enc_type", std::string("pos_emb")}, {"dff", kNone}};
    f.keys = {{{"vocab_size"}, "vocab_size", std::int64_t{50304}},
              {{"n_embd"}, "d_model", std::int64_t{768}},
              {{"n_layer"}, "n_layers", std::int64_t{12}},
              {{"n_head"}, "n_heads_sa", std::int64_t{12}},
              {{"block_size"}, "max_block_size", std::int64_t{1024}},
              {{"norm_type"}, "norm_type", std::string("layernorm")},
              {{"activation"}, "activation", std::string("exact_gelu")},  // llm.c's is "gelu"
              {{"bias"}, "bias", true},
              {{"bias"}, "sa_add_bias_q", true},
              {{"bias"}, "sa_add_bias_kv", true},
              {{"bias"}, "ff_bias", true}};
    f.limits = {};
    for (auto& tensor : f.tensors)
        tensor.form = tensor.form == StoredForm::Thirds ? StoredForm::Rows : StoredForm::Plain;
    f.ignored = {"h.I.attn.bias"};
    return f;
}

}  // namespace

Family tables::llama() {
    Family f;
    f.type = "llama", f.title = "Llama", f.architecture = kPublicDecoder;
    f.classes = {"LlamaForCausalLM"};
    f.prefix = "model.";
    f.rotary = true;
    f.fixed = {{"pos_enc_type", std::string("RoPE")},
               {"rotary_halves", true},
               {"norm_type", std::string("rmsnorm")},
               {"activation", std::string("swiglu")}};
    f.keys = {{{"vocab_size"}, "vocab_size", std::int64_t{32000}},
              {{"hidden_size"}, "d_model", std::int64_t{4096}},
              {{"intermediate_size"}, "dff", std::int64_t{11008}},
              {{"num_hidden_layers"}, "n_layers", std::int64_t{32}},
              {{"num_attention_heads"}, "n_heads_sa", std::int64_t{32}},
              {{"num_key_value_heads"}, "sa_n_kv_heads", kNone},
              {{"head_dim"}, "head_dim", kNone},
              {{"max_position_embeddings"}, "max_block_size", std::int64_t{2048}},
              {{"rms_norm_eps"}, "norm_eps", 1e-6},
              {{"rope_theta"}, "rope_theta", 10000.0},
              {{"attention_bias"}, "bias", false},
              {{"attention_bias"}, "sa_add_bias_q", false},
              {{"attention_bias"}, "sa_add_bias_kv", false},
              {{"mlp_bias"}, "ff_bias", false},
              {{"tie_word_embeddings"}, "tie_word_embeddings", false}};
    f.limits = {{"hidden_act", {"silu", "swish"}}};
    f.tensors = {{"embed_tokens", {"layers.token_embedder"}},
                 {"layers.I.input_layernorm", parts({"norm1"})},
                 {"layers.I.self_attn.q_proj", parts({"self_attn.wq"})},
                 {"layers.I.self_attn.k_proj", parts({"self_attn.wk"})},
                 {"layers.I.self_attn.v_proj", parts({"self_attn.wv"})},
                 {"layers.I.self_attn.o_proj", parts({"self_attn.wo"})},
                 {"layers.I.post_attention_layernorm", parts({"norm2"})},
                 {"layers.I.mlp.gate_proj", parts({"ff_block.linear1"})},
                 {"layers.I.mlp.up_proj", parts({"ff_block.linear3"})},
                 {"layers.I.mlp.down_proj", parts({"ff_block.linear2"})},
                 {"norm", {"layers.norm"}},
                 {"lm_head", {"layers.final_out"}, StoredForm::Plain, true}};
    f.ignored = {"layers.I.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq"};
    return f;
}

namespace {

Family mistral() {
    auto f = llama();
    f.type = "mistral", f.title = "Mistral", f.classes = {"MistralForCausalLM"};
    for (const char* option : {"bias", "sa_add_bias_q", "sa_add_bias_kv", "ff_bias"})
        fix(f, option, false);
    replace(f, {{"intermediate_size"}, "dff", std::int64_t{14336}});
    replace(f, {{"num_key_value_heads"}, "sa_n_kv_heads", std::int64_t{8}, kNone});
    replace(f, {{"max_position_embeddings"}, "max_block_size", std::int64_t{131072}});
    replace(f, {{"sliding_window"}, "sliding_window", std::int64_t{4096}, kNone});
    return f;
}

Family qwen2() {
    auto f = llama();
    f.type = "qwen2", f.title = "Qwen2", f.classes = {"Qwen2ForCausalLM"};
    fix(f, "bias", false);
    fix(f, "sa_add_bias_q", true);
    fix(f, "sa_add_bias_kv", true);
    fix(f, "ff_bias", false);
    replace(f, {{"vocab_size"}, "vocab_size", std::int64_t{151936}});
    replace(f, {{"intermediate_size"}, "dff", std::int64_t{22016}});
    replace(f, {{"num_key_value_heads"}, "sa_n_kv_heads", std::int64_t{32}, kNone});
    replace(f, {{"max_position_embeddings"}, "max_block_size", std::int64_t{32768}});
    f.limits.push_back({"use_sliding_window", {false}});
    // Without use_sliding_window these change nothing.
    f.limits.push_back({"sliding_window", {}});
    f.limits.push_back({"max_window_layers", {}});
    return f;
}

Family gptNeoX() {
    Family f;
    f.type = "gpt_neox", f.title = "GPT-NeoX", f.architecture = kPublicDecoder;
    f.classes = {"GPTNeoXForCausalLM"};
    f.prefix = "gpt_neox.";
    f.rotary = true;
    f.rotaryShare = "rotary_pct", f.rotaryShareAbsent = 0.25;
    f.fixed = {{"pos_enc_type", std::string("RoPE")},
               {"rotary_halves", true},
               {"norm_type", std::string("layernorm")},
               {"activation", std::string("exact_gelu")},
               {"ff_bias", true}};
    f.keys = {{{"vocab_size"}, "vocab_size", std::int64_t{50432}},
              {{"hidden_size"}, "d_model", std::int64_t{6144}},
              {{"intermediate_size"}, "dff", std::int64_t{24576}},
              {{"num_hidden_layers"}, "n_layers", std::int64_t{44}},
              {{"num_attention_heads"}, "n_heads_sa", std::int64_t{64}},
              {{"max_position_embeddings"}, "max_block_size", std::int64_t{2048}},
              {{"layer_norm_eps"}, "norm_eps", 1e-5},
              {{"rotary_emb_base", "rope_theta"}, "rope_theta", 10000.0},
              {{"use_parallel_residual"}, "parallel_residual", true},
              {{"attention_bias"}, "bias", true},
              {{"attention_bias"}, "sa_add_bias_q", true},
              {{"attention_bias"}, "sa_add_bias_kv", true},
              {{"tie_word_embeddings"}, "tie_word_embeddings", false}};
    f.limits = {{"hidden_act", {"gelu"}}};
    f.tensors = {{"embed_in", {"layers.token_embedder"}},
                 {"layers.I.input_layernorm", parts({"norm1"})},
                 {"layers.I.post_attention_layernorm", parts({"norm2"})},
                 {"layers.I.attention.query_key_value", queriesKeysValues(), StoredForm::ByHead},
                 {"layers.I.attention.dense", parts({"self_attn.wo"})},
                 {"layers.I.mlp.dense_h_to_4h", parts({"ff_block.linear1"})},
                 {"layers.I.mlp.dense_4h_to_h", parts({"ff_block.linear2"})},
                 {"final_layer_norm", {"layers.norm"}},
                 {"embed_out", {"layers.final_out"}, StoredForm::Plain, true, "lm_head"}};
    f.ignored = {"layers.I.attention.bias", "layers.I.attention.masked_bias",
                 "layers.I.attention.rotary_emb.inv_freq", "rotary_emb.inv_freq"};
    return f;
}

}  // namespace

const std::vector<Family>& decoderFamilies() {
    static const std::vector<Family> all = [] {
        std::vector<Family> list = {gpt2(), llama(), mistral(), qwen2(), gptNeoX(), nanoGpt()};
        for (const auto* more :
             {&gatedFamilies(), &plainFamilies(), &expertFamilies(), &relationalFamilies()})
            list.insert(list.end(), more->begin(), more->end());
        return list;
    }();
    return all;
}

}  // namespace relascope::core
