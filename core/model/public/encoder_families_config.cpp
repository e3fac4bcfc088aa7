// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of encoders: BERT, RoBERTa, XLM-RoBERTa, ModernBERT. Keys, defaults and names of
// tensors are those of the `transformers` package 4.57.
#include <algorithm>

#include "model/public/family_tables.h"

namespace relascope::core {
namespace {

using namespace tables;
using E = std::int64_t;

// A family with these names of the parts of its output.
Family encoder(const std::string& dense, const std::string& norm, const std::string& output) {
    Family f;
    f.architecture = kPublicEncoder;
    f.fixed = {{"pos_enc_type", std::string("pos_emb")},
               {"norm_type", std::string("layernorm")},
               {"norm_first", false},
               {"embed_norm", true},
               {"final_norm", false},
               {"output_bias", true},
               {"bias", true},
               {"sa_add_bias_q", true},
               {"sa_add_bias_kv", true},
               {"ff_bias", true}};
    f.keys = {{{"vocab_size"}, "vocab_size", E{30522}},
              {{"hidden_size"}, "d_model", E{768}},
              {{"intermediate_size"}, "dff", E{3072}},
              {{"num_hidden_layers"}, "n_layers", E{12}},
              {{"num_attention_heads"}, "n_heads_sa", E{12}},
              {{"max_position_embeddings"}, "max_block_size", E{512}},
              {{"type_vocab_size"}, "token_types", E{2}},
              {{"layer_norm_eps"}, "norm_eps", 1e-12},
              {{"hidden_act"}, "activation", std::string("exact_gelu")},
              {{"hidden_act"}, "head_activation", std::string("exact_gelu")},
              {{"tie_word_embeddings"}, "tie_word_embeddings", true}};
    for (auto& key : f.keys)
        if (key.names.front() == "hidden_act")
            key.texts = {{"gelu", "exact_gelu"},
                         {"relu", "relu"},
                         {"gelu_new", "gelu"},
                         {"gelu_pytorch_tanh", "gelu"}};
    f.limits = {{"is_decoder", {false}}, {"position_embedding_type", {"absolute"}}};
    f.neutral = {"directionality", "gradient_checkpointing"};
    const std::string layer = "encoder.layer.I.";
    f.tensors = {{"embeddings.word_embeddings", {"layers.token_embedder"}},
                 {"embeddings.position_embeddings", {"layers.positional_embedder"}},
                 {"embeddings.token_type_embeddings", {"layers.token_types"}},
                 {"embeddings.LayerNorm", {"layers.embed_norm"}},
                 {layer + "attention.self.query", parts({"self_attn.wq"})},
                 {layer + "attention.self.key", parts({"self_attn.wk"})},
                 {layer + "attention.self.value", parts({"self_attn.wv"})},
                 {layer + "attention.output.dense", parts({"self_attn.wo"})},
                 {layer + "attention.output.LayerNorm", parts({"norm1"})},
                 {layer + "intermediate.dense", parts({"ff_block.linear1"})},
                 {layer + "output.dense", parts({"ff_block.linear2"})},
                 {layer + "output.LayerNorm", parts({"norm2"})},
                 {dense, {"layers.head.dense"}, StoredForm::Plain, true},
                 {norm, {"layers.head.norm"}, StoredForm::Plain, true},
                 {output + "bias", {"layers.final_out.bias"}, StoredForm::Plain, true},
                 {output + "decoder", {"layers.final_out"}, StoredForm::Plain, true}};
    f.tensors[f.tensors.size() - 2].also = output + "decoder.bias";
    f.tensors.back().further = ".bias";
    for (auto& tensor : f.tensors) tensor.gammas = tensor.stored.ends_with("LayerNorm");
    f.ignored = {"embeddings.position_ids", "pooler.*", "cls.seq_relationship.*"};
    return f;
}

Family bert() {
    auto f = encoder("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                     "cls.predictions.");
    f.type = "bert", f.title = "BERT", f.prefix = "bert.";
    f.classes = {"BertForMaskedLM", "BertForPreTraining"};
    return f;
}

Family roberta() {
    auto f = encoder("lm_head.dense", "lm_head.layer_norm", "lm_head.");
    f.type = "roberta", f.title = "RoBERTa", f.classes = {"RobertaForMaskedLM"};
    f.prefix = "roberta.";
    absent(f, {{"vocab_size", E{50265}}});
    fix(f, "head_activation", std::string("exact_gelu"));
    f.keys.push_back({{"pad_token_id"}, "padding_row", E{1}});
    f.keys.back().least = 0, f.keys.back().nullable = false;
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = m.get<PublicEncoderOptions>();
        o.position_offset = o.padding_row + 1;
        o.max_block_size -= o.position_offset;
        if (o.max_block_size < 1)
            c.refuse("max_position_embeddings", "more than pad_token_id + 1, " +
                                                    std::to_string(o.position_offset) +
                                                    ", would open");
    };
    return f;
}

Family xlmRoberta() {
    auto f = roberta();
    f.type = "xlm-roberta", f.title = "XLM-RoBERTa", f.classes = {"XLMRobertaForMaskedLM"};
    absent(f, {{"vocab_size", E{30522}}});
    return f;
}

Family modernBert() {
    Family f;
    f.type = "modernbert", f.title = "ModernBERT", f.architecture = kPublicEncoder;
    f.classes = {"ModernBertForMaskedLM"};
    f.prefix = "model.";
    f.rotary = true;
    f.fixed = {{"pos_enc_type", std::string("RoPE")},
               {"rotary_halves", true},
               {"activation", std::string("exact_geglu")},
               {"embed_norm", true}};
    f.keys = {{{"vocab_size"}, "vocab_size", E{50368}},
              {{"hidden_size"}, "d_model", E{768}},
              {{"intermediate_size"}, "dff", E{1152}},
              {{"num_hidden_layers"}, "n_layers", E{22}},
              {{"num_attention_heads"}, "n_heads_sa", E{12}},
              {{"max_position_embeddings"}, "max_block_size", E{8192}},
              {{"norm_eps"}, "norm_eps", 1e-5},
              {{"global_rope_theta", "rope_theta"}, "rope_theta", 160000.0},
              {{"local_rope_theta"}, "local_rope_theta", 10000.0, 0.0},
              {{"local_attention"}, "sliding_window", E{128}},
              {{"attention_bias"}, "bias", false},
              {{"attention_bias"}, "sa_add_bias_q", false},
              {{"attention_bias"}, "sa_add_bias_kv", false},
              {{"mlp_bias"}, "ff_bias", false},
              {{"classifier_bias"}, "head_bias", false},
              {{"decoder_bias"}, "output_bias", true},
              {{"tie_word_embeddings"}, "tie_word_embeddings", true}};
    for (auto& key : f.keys)  // |i - j| <= local_attention // 2
        if (key.option == "sliding_window")
            key.made = [](const FieldValue& v) -> FieldValue { return std::get<E>(v) / 2 + 1; };
    f.limits = {{"hidden_activation", {"gelu"}}, {"classifier_activation", {"gelu"}}};
    f.neutral = {"classifier_pooling", "deterministic_flash_attn", "initializer_cutoff_factor",
                 "repad_logits_with_grad"};
    f.kinds = [](const ModelOptions&, FamilyConfig& c) {
        const auto each = std::min<E>(c.count("global_attn_every_n_layers", 3), 100000);
        return "F" + std::string(static_cast<std::size_t>(each - 1), 'W');
    };
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        m.get<PublicEncoderOptions>().norm_type =
            c.flag("norm_bias", false) ? "layernorm" : "layernorm_no_bias";
    };
    f.tensors = {
        {"embeddings.tok_embeddings", {"layers.token_embedder"}},
        {"embeddings.norm", {"layers.embed_norm"}},
        {"layers.I.attn_norm", parts({"norm1"})},
        {"layers.I.attn.Wqkv", queriesKeysValues(), StoredForm::Rows},
        {"layers.I.attn.Wo", parts({"self_attn.wo"})},
        {"layers.I.mlp_norm", parts({"norm2"})},
        {"layers.I.mlp.Wi", parts({"ff_block.linear1", "ff_block.linear3"}), StoredForm::Rows},
        {"layers.I.mlp.Wo", parts({"ff_block.linear2"})},
        {"final_norm", {"layers.norm"}},
        {"head.dense", {"layers.head.dense"}, StoredForm::Plain, true},
        {"head.norm", {"layers.head.norm"}, StoredForm::Plain, true},
        {"decoder", {"layers.final_out"}, StoredForm::Plain, true}};
    return f;
}

}  // namespace

const std::vector<Family>& encoderFamilies() {
    static const std::vector<Family> all = {bert(), roberta(), xlmRoberta(), modernBert()};
    return all;
}

}  // namespace relascope::core
