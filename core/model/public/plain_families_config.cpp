// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of language models whose feed-forward has no gate: StarCoder2, Falcon, BLOOM, OPT,
// GPT-J. Keys, defaults and names of tensors are those of the `transformers` package 4.57.
#include "model/public/family_tables.h"

namespace relascope::core {
namespace {

using namespace tables;
using N = std::int64_t;

FamilyTensor part(const std::string& stored, const char* name,
                  StoredForm form = StoredForm::Plain) {
    return {stored, parts({name}), form};
}

// One key for all biases of a block.
void biases(Family& f, const char* key, bool value) {
    for (const char* option : {"bias", "sa_add_bias_q", "sa_add_bias_kv", "ff_bias"})
        replace(f, {{key}, option, value});
}

Family starcoder2() {
    auto f = llama();
    f.type = "starcoder2", f.title = "StarCoder2", f.classes = {"Starcoder2ForCausalLM"};
    absent(f, {{"vocab_size", N{49152}},
               {"d_model", N{3072}},
               {"dff", N{12288}},
               {"n_layers", N{30}},
               {"n_heads_sa", N{24}},
               {"sa_n_kv_heads", N{2}},
               {"max_block_size", N{4096}},
               {"tie_word_embeddings", true}});
    fix(f, "norm_type", std::string("layernorm"));
    fix(f, "activation", std::string("gelu"));
    biases(f, "use_bias", true);
    replace(f, {{"norm_epsilon"}, "norm_eps", 1e-5});
    replace(f, {{"sliding_window"}, "sliding_window", kNone});
    f.limits = {{"hidden_act", {"gelu_pytorch_tanh", "gelu_new"}}};
    keep(f, "layers.I.mlp.gate_proj", part("layers.I.mlp.c_fc", "ff_block.linear1"));
    keep(f, "layers.I.mlp.down_proj", part("layers.I.mlp.c_proj", "ff_block.linear2"));
    drop(f, "layers.I.mlp.up_proj");
    return f;
}

// What Falcon and BLOOM share.
Family fused() {
    Family f;
    f.architecture = kPublicDecoder;
    f.prefix = "transformer.";
    f.fixed = {{"norm_type", std::string("layernorm")}};
    f.tensors = {{"word_embeddings", {"layers.token_embedder"}},
                 {"word_embeddings_layernorm", {"layers.embed_norm"}},
                 part("h.I.input_layernorm", "norm1"),
                 part("h.I.post_attention_layernorm", "norm2"),
                 {"h.I.self_attention.query_key_value", queriesKeysValues(), StoredForm::ByHead},
                 part("h.I.self_attention.dense", "self_attn.wo"),
                 part("h.I.mlp.dense_h_to_4h", "ff_block.linear1"),
                 part("h.I.mlp.dense_4h_to_h", "ff_block.linear2"),
                 {"ln_f", {"layers.norm"}},
                 {"lm_head", {"layers.final_out"}, StoredForm::Plain, true}};
    return f;
}

Family falcon() {
    auto f = fused();
    f.type = "falcon", f.title = "Falcon", f.classes = {"FalconForCausalLM"};
    f.rotary = true;
    for (const auto& [option, value] :
         {std::pair{"activation", FieldValue(std::string("exact_gelu"))},
          {"rotary_halves", FieldValue(true)}})
        f.fixed.emplace_back(option, value);
    f.keys = {{{"vocab_size"}, "vocab_size", N{65024}},
              {{"n_embed", "hidden_size"}, "d_model", N{4544}},
              {{"ffn_hidden_size"}, "dff", kNone},
              {{"num_hidden_layers"}, "n_layers", N{32}},
              {{"num_attention_heads"}, "n_heads_sa", N{71}},
              {{"max_position_embeddings"}, "max_block_size", N{2048}},
              {{"layer_norm_epsilon"}, "norm_eps", 1e-5},
              {{"rope_theta"}, "rope_theta", 10000.0},
              {{"tie_word_embeddings"}, "tie_word_embeddings", true}};
    biases(f, "bias", false);
    f.limits = {{"activation", {"gelu"}}};
    f.ignored = {"h.I.self_attention.rotary_emb.inv_freq"};
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = m.get<PublicDecoderOptions>();
        const bool newer = c.flag("new_decoder_architecture", false),
                   parallel = c.flag("parallel_attn", true), shared = c.flag("multi_query", true);
        if (newer && !parallel)
            c.refuse("parallel_attn", "true would open, as new_decoder_architecture needs it");
        const auto given = c.count("num_kv_heads", o.n_heads_sa),
                   norms = c.count("num_ln_in_parallel_attn", 2);
        o.sa_n_kv_heads = newer ? given : shared ? 1 : 0;
        o.parallel_residual = parallel;
        o.one_norm = parallel && (!newer || norms == 1);
        if (c.flag("alibi", false)) o.pos_enc_type = "none", o.distance = "inside";
    };
    for (auto& tensor : f.tensors) {
        if (tensor.stored == "h.I.input_layernorm") tensor.also = "h.I.ln_attn";
        if (tensor.stored == "h.I.post_attention_layernorm") tensor.also = "h.I.ln_mlp";
    }
    return f;
}

Family bloom() {
    auto f = fused();
    f.type = "bloom", f.title = "BLOOM", f.classes = {"BloomForCausalLM"};
    for (const auto& [option, value] : {std::pair{"activation", FieldValue(std::string("gelu"))},
                                        {"pos_enc_type", FieldValue(std::string("none"))},
                                        {"distance", FieldValue(std::string("behind"))},
                                        {"embed_norm", FieldValue(true)}})
        f.fixed.emplace_back(option, value);
    for (const char* option : {"bias", "sa_add_bias_q", "sa_add_bias_kv", "ff_bias"})
        f.fixed.emplace_back(option, true);
    f.keys = {{{"vocab_size"}, "vocab_size", N{250880}},
              {{"n_embed", "hidden_size"}, "d_model", N{64}},
              {{"n_layer", "num_hidden_layers"}, "n_layers", N{2}},
              {{"n_head", "num_attention_heads"}, "n_heads_sa", N{8}},
              {{"seq_length"}, "max_block_size", N{2048}},
              {{"layer_norm_epsilon"}, "norm_eps", 1e-5},
              {{"tie_word_embeddings"}, "tie_word_embeddings", true}};
    fix(f, "dff", kNone);
    f.limits = {{"apply_residual_connection_post_layernorm", {false}}};
    return f;
}

Family opt() {
    Family f;
    f.type = "opt", f.title = "OPT", f.architecture = kPublicDecoder;
    f.classes = {"OPTForCausalLM"};
    f.prefix = "model.decoder.", f.otherPrefixes = {"decoder."};
    f.fixed = {{"pos_enc_type", std::string("pos_emb")},
               {"position_offset", N{2}},
               {"norm_type", std::string("layernorm")},
               {"norm_eps", 1e-5},
               {"activation", std::string("relu")}};
    f.keys = {{{"vocab_size"}, "vocab_size", N{50272}},
              {{"hidden_size"}, "d_model", N{768}},
              {{"ffn_dim"}, "dff", N{3072}},
              {{"num_hidden_layers"}, "n_layers", N{12}},
              {{"num_attention_heads"}, "n_heads_sa", N{12}},
              {{"max_position_embeddings"}, "max_block_size", N{2048}},
              {{"do_layer_norm_before"}, "norm_first", true},
              {{"tie_word_embeddings"}, "tie_word_embeddings", true}};
    biases(f, "enable_bias", true);
    f.limits = {{"activation_function", {"relu"}}, {"layer_norm_elementwise_affine", {true}}};
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = m.get<PublicDecoderOptions>();
        const bool without = c.flag("_remove_final_layer_norm", false);
        o.final_norm = o.norm_first && !without;
        const auto width = c.count("word_embed_proj_dim", o.d_model);
        o.embed_width = width == o.d_model ? 0 : width;
    };
    f.tensors = {{"embed_tokens", {"layers.token_embedder"}},
                 {"embed_positions", {"layers.positional_embedder"}},
                 {"project_in", {"layers.project_in"}},
                 {"project_out", {"layers.project_out"}},
                 part("layers.I.self_attn_layer_norm", "norm1"),
                 part("layers.I.self_attn.q_proj", "self_attn.wq"),
                 part("layers.I.self_attn.k_proj", "self_attn.wk"),
                 part("layers.I.self_attn.v_proj", "self_attn.wv"),
                 part("layers.I.self_attn.out_proj", "self_attn.wo"),
                 part("layers.I.final_layer_norm", "norm2"),
                 part("layers.I.fc1", "ff_block.linear1"),
                 part("layers.I.fc2", "ff_block.linear2"),
                 {"final_layer_norm", {"layers.norm"}},
                 {"lm_head", {"layers.final_out"}, StoredForm::Plain, true}};
    return f;
}

Family gptj() {
    Family f;
    f.type = "gptj", f.title = "GPT-J", f.architecture = kPublicDecoder;
    f.classes = {"GPTJForCausalLM"};
    f.prefix = "transformer.";
    f.fixed = {{"pos_enc_type", std::string("RoPE")},
               {"norm_type", std::string("layernorm")},
               {"activation", std::string("gelu")},
               {"parallel_residual", true},
               {"one_norm", true},
               {"ff_bias", true},
               {"output_bias", true}};
    f.keys = {{{"vocab_size"}, "vocab_size", N{50400}},
              {{"n_embd", "hidden_size"}, "d_model", N{4096}},
              {{"n_layer", "num_hidden_layers"}, "n_layers", N{28}},
              {{"n_head", "num_attention_heads"}, "n_heads_sa", N{16}},
              {{"n_positions", "max_position_embeddings"}, "max_block_size", N{2048}},
              {{"n_inner"}, "dff", kNone},
              {{"layer_norm_epsilon"}, "norm_eps", 1e-5},
              {{"rotary_dim"}, "rotary_dims", N{64}},
              {{"tie_word_embeddings"}, "tie_word_embeddings", false}};
    for (auto& key : f.keys) key.nullable = key.option != "rotary_dims";
    f.limits = {{"activation_function", {"gelu_new", "gelu_pytorch_tanh"}}};
    f.tensors = {{"wte", {"layers.token_embedder"}},
                 part("h.I.ln_1", "norm1"),
                 part("h.I.attn.q_proj", "self_attn.wq"),
                 part("h.I.attn.k_proj", "self_attn.wk"),
                 part("h.I.attn.v_proj", "self_attn.wv"),
                 part("h.I.attn.out_proj", "self_attn.wo"),
                 part("h.I.mlp.fc_in", "ff_block.linear1"),
                 part("h.I.mlp.fc_out", "ff_block.linear2"),
                 {"ln_f", {"layers.norm"}},
                 {"lm_head", {"layers.final_out"}, StoredForm::Plain, true}};
    f.ignored = {"h.I.attn.bias", "h.I.attn.masked_bias"};
    return f;
}

}  // namespace

const std::vector<Family>& plainFamilies() {
    static const std::vector<Family> all = {starcoder2(), falcon(), bloom(), opt(), gptj()};
    return all;
}

}  // namespace relascope::core
