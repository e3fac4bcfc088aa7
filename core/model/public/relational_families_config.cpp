// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of Relational BabyLM (Brasoveanu, Takmaz and Dotlacil 2026): `dat`, a decoder with
// relational heads, and `transformer`, its baseline. Keys, defaults and names of tensors are those
// of the classes that its hub folders name in auto_map.
#include <algorithm>

#include "model/public/family.h"
#include "model/public/public_options.h"

namespace relascope::core {
namespace {

constexpr const char* kEach = "layers.blocks.I.";

FamilyTensor inBlock(const std::string& stored, const std::string& part) {
    return {"layers.I." + stored, {kEach + part}};
}

// Keys of both families; the options of the biases of queries, keys and values, and of outputs.
std::vector<FamilyKey> commonKeys(const std::vector<const char*>& biases,
                                  const std::vector<const char*>& outputBiases) {
    std::vector<FamilyKey> keys = {
        {{"vocab_size"}, "vocab_size", std::int64_t{16384}},
        {{"n_layers"}, "n_layers", std::int64_t{4}},
        {{"rope_theta"}, "rope_theta", 10000.0},
        {{"norm_type"}, "norm_type", std::string("rmsnorm")},
        {{"norm_first"}, "norm_first", true},
        {{"use_bias_ffn"}, "ff_bias", true},
        {{"tie_lm_head"}, "tie_word_embeddings", true},
        {{"eos_token_id"}, "document_start", std::int64_t{2}, std::int64_t{-1}},
        {{"pad_token_id"}, "padding", std::int64_t{0}, std::int64_t{-1}}};
    keys[3].texts = {{"layernorm", "layernorm"}, {"rmsnorm", "rmsnorm"}};
    for (const char* option : biases) keys.push_back({{"use_bias_qkv"}, option, false});
    for (const char* option : outputBiases) keys.push_back({{"use_bias_out"}, option, true});
    for (auto& key : keys)
        if (key.names.front().ends_with("_token_id")) key.least = 0;
    return keys;
}

FamilyKey feedForwardWidthKey() {
    FamilyKey key{{"dff_factor"}, "dff", std::int64_t{4}};
    key.times = "d_model";
    return key;
}

// What both families share, with the keys of `keys`.
Family babyLm(const std::vector<FamilyKey>& keys) {
    Family f;
    f.prefix = "model.";
    f.fixed = {{"norm_eps", 1e-5}};
    f.keys = keys;
    f.limits = {{"pe_type", {"rope"}},
                {"ffn_hidden_dim_mode", {"dff_factor"}},
                {"sequence_boundary_policy", {"eos_document", "document_boundary"}}};
    f.neutral = {"init_range", "init_scheme", "max_position_embeddings", "relsymbolic_dropout",
                 "tie_word_embeddings"};
    f.sharedMustEqual = true;
    f.tensors = {{"token_embeddings", {"layers.token_embedder"}},
                 inBlock("norm1", "norm1"),
                 inBlock("norm2", "norm2"),
                 {"final_norm", {"layers.norm"}},
                 {"lm_head", {"layers.final_out"}}};
    return f;
}

Family dat() {
    auto keys = commonKeys({"sa_add_bias_q", "sa_add_bias_kv", "ra_add_bias_q", "ra_add_bias_kv"},
                           {"sa_add_bias_out", "ra_add_bias_out"});
    const auto add = [&](FamilyKey key) -> FamilyKey& { return keys.emplace_back(std::move(key)); };
    const auto length = [](const ModelOptions& m) -> FieldValue {
        return m.number("max_block_size");
    };
    add({{"max_seq_len"}, "max_block_size", std::int64_t{513}});
    add({{"hidden_dim", "hidden_size"}, "d_model", std::int64_t{256}});
    add({{"n_heads_sa"}, "n_heads_sa", std::int64_t{2}});
    add({{"n_heads_ra"}, "n_heads_ra", std::int64_t{2}});
    add(feedForwardWidthKey());
    add({{"ffn_activation"}, "activation", std::string("exact_gelu")}).texts = {
        {"gelu", "exact_gelu"}, {"swiglu", "swiglu"}};

    add({{"ra_type"}, "ra_type", std::string("relational_attention")}).texts = {
        {"ra", "relational_attention"}, {"rca", "rca"}, {"disrca", "disrca"}};
    for (const char* option : {"rel_activation", "rca_activation"})
        add({{"ra_rel_activation"}, option, std::string("identity")}).texts = {
            {"identity", "identity"},
            {"softmax", "softmax"},
            {"tanh", "tanh"},
            {"sigmoid", "sigmoid"}};
    const FamilyCondition disentangled = {"ra_type", std::string("relational_attention"),
                                          "ra_type ra"};
    auto& relations = add({{"ra_n_relations"}, "n_relations", std::int64_t{0}});
    relations.when = disentangled, relations.otherwise = FamilyKey::Otherwise::Refused;
    auto& symmetric = add({{"ra_symmetric_rels"}, "symmetric_rels", false});
    symmetric.when = disentangled, symmetric.otherwise = FamilyKey::Otherwise::Refused;

    add({{"symbol_retrieval"}, "symbol_retrieval", std::string("symbolic_attention")}).texts = {
        {"symbolic", "symbolic_attention"},
        {"positional", "positional_symbols"},
        {"relative", "position_relative"},
        {"relsymbolic", "rel_sym_attn"}};
    const auto kind = [](const char* value, const char* spelled) {
        return FamilyCondition{"symbol_retrieval", std::string(value),
                               std::string("symbol_retrieval ") + spelled};
    };
    const auto relative = kind("position_relative", "relative"),
               positional = kind("positional_symbols", "positional"),
               symbolic = kind("symbolic_attention", "symbolic"),
               neighbours = kind("rel_sym_attn", "relsymbolic");
    const auto of = [&](const FamilyCondition& condition, FamilyKey key) -> FamilyKey& {
        key.when = condition;
        return add(std::move(key));
    };
    add({{"symbol_dim"}, "symbol_dim", std::int64_t{0}});
    of(relative, {{"max_rel_pos"}, "max_rel_pos", std::int64_t{1}}).derived =
        [](const ModelOptions& m) -> FieldValue {
        return std::max<std::int64_t>(1, m.number("max_block_size") / 2);
    };
    of(relative, {{"relative_symbols_rope"}, "rotary_symbols", false}).otherwise =
        FamilyKey::Otherwise::Refused;
    of(positional, {{"positional_symbols_sinusoidal"}, "sinusoidal_symbols", false}).otherwise =
        FamilyKey::Otherwise::Refused;
    for (const auto& condition : {symbolic, neighbours})
        of(condition, {{"n_symbols"}, "n_symbols", std::int64_t{1}}).derived = length;
    of(symbolic, {{"symbolic_attn_n_heads"}, "symbol_heads", std::int64_t{1}}).derived =
        [](const ModelOptions& m) -> FieldValue {
        return m.number("n_heads_sa") + m.number("n_heads_ra");
    };
    of(symbolic, {{"symbolic_use_bias"}, "symbol_bias", false});
    of(neighbours, {{"relsymbolic_symbolic_attn_n_heads"}, "symbol_heads", std::int64_t{4}});
    of(neighbours, {{"relsymbolic_rel_n_heads"}, "rel_n_heads", std::int64_t{4}});
    of(neighbours, {{"relsymbolic_neighborhood_size"}, "nbhd_delta", std::int64_t{2}});
    of(neighbours, {{"relsymbolic_include_self"}, "include_self", false});
    of(neighbours, {{"relsymbolic_normalize_rels"}, "normalize_rels", true});
    of(neighbours, {{"relsymbolic_trainable_symbols"}, "trainable_symbols", true});
    of(neighbours, {{"relsymbolic_rel_scale"}, "rel_scale", 0.0});
    of(neighbours, {{"relsymbolic_symbolic_attn_scale"}, "symbol_scale", 0.0});
    for (const char* option : {"symbol_bias", "neighbour_bias"})
        of(neighbours, {{"relsymbolic_use_bias"}, option, false});

    auto f = babyLm(keys);
    f.type = "dat", f.title = "Relational BabyLM DAT", f.architecture = kPublicDualDecoder;
    f.classes = {"DatForCausalLM"};
    f.fixed.insert(f.fixed.end(),
                   {{"rel_add_bias", false}, {"masked_relations", true}, {"normed_symbols", true}});
    for (const auto& [stored, ours] : {std::pair{"sensory_attention.", "self_attention."},
                                       {"relational_attention.", "relational_attention."}}) {
        const std::string in = stored, own = std::string("dual_attn.") + ours;
        const bool relational = in.starts_with("relational");
        for (const char part : {'q', 'k'}) {
            const std::string from = in + part + "_proj", to = own + "w" + part;
            f.tensors.push_back(inBlock(from, to));  // for relational heads, rca's
            if (relational) f.tensors.push_back(inBlock(from, to + "_attn"));
        }
        f.tensors.push_back(inBlock(in + "v_proj", own + "wv"));
        f.tensors.push_back(inBlock(in + "o_proj", own + "wo"));
    }
    const std::string rel = "relational_attention.", ours = "dual_attn.relational_attention.";
    f.tensors.push_back(inBlock(rel + "wq_rel", ours + "wq_rel"));
    f.tensors.push_back(inBlock(rel + "wk_rel", ours + "wk_rel"));
    f.tensors.back().kept = true;
    f.tensors.push_back(inBlock(rel + "wr_proj", ours + "wr"));
    const auto feedForward = [&](const char* activation, const char* stored, const char* part) {
        f.tensors.push_back(inBlock(std::string("feed_forward.") + stored, part));
        f.tensors.back().when = {"activation", std::string(activation), {}};
    };
    feedForward("swiglu", "w_gate", "ff_block.linear1");
    feedForward("swiglu", "w_up", "ff_block.linear3");
    feedForward("swiglu", "w_down", "ff_block.linear2");
    feedForward("exact_gelu", "linear1", "ff_block.linear1");
    feedForward("exact_gelu", "linear2", "ff_block.linear2");
    const auto symbol = [&](const std::string& stored, const std::string& part) {
        f.tensors.push_back({"symbol_retriever." + stored, {"layers.symbol_retrievers.0." + part}});
    };
    symbol("position_encoder.rel_pos_embeddings_table.weight", "rel_pos_enc.rel_pos_embeddings");
    f.tensors.back().sizedBy = "max_rel_pos";
    symbol("position_encoder.position_embeddings", "symbol_library");
    f.tensors.back().when = {"symbol_retrieval", std::string("positional_symbols"), {}};
    for (const std::string part : {"q_proj", "k_proj", "template_features", "symbol_library"})
        symbol(part, part);
    f.tensors.back().when = {"symbol_retrieval", std::string("symbolic_attention"), {}};
    symbol("rel_to_hidden", "model_dim_proj");
    for (const std::string part : {"q_proj", "template_features", "symbol_library"})
        symbol("symbolic_attention." + part, "symbolic_attention." + part);
    return f;
}

Family transformer() {
    auto keys = commonKeys({"sa_add_bias_q", "sa_add_bias_kv"}, {"bias"});
    keys.push_back({{"max_seq_len"}, "max_block_size", std::int64_t{514}});
    keys.push_back({{"hidden_dim", "hidden_size"}, "d_model", std::int64_t{192}});
    keys.push_back({{"n_heads"}, "n_heads_sa", std::int64_t{6}});
    keys.push_back(feedForwardWidthKey());
    auto f = babyLm(keys);
    f.type = "transformer", f.title = "Relational BabyLM Transformer";
    f.architecture = kPublicDecoder;
    f.classes = {"TransformerForCausalLM"};
    f.configClass = "TransformerConfig";
    f.fixed.insert(f.fixed.end(), {{"pos_enc_type", std::string("RoPE")},
                                   {"activation", std::string("exact_gelu")}});
    f.limits.push_back({"ffn_activation", {"gelu"}});
    f.neutral.push_back("max_rel_pos");
    for (const std::string part : {"q", "k", "v", "o"})
        f.tensors.push_back(inBlock("self_attn." + part + "_proj", "self_attn.w" + part));
    f.tensors.push_back(inBlock("feed_forward.linear1", "ff_block.linear1"));
    f.tensors.push_back(inBlock("feed_forward.linear2", "ff_block.linear2"));
    return f;
}

}  // namespace

const std::vector<Family>& relationalFamilies() {
    static const std::vector<Family> all = {dat(), transformer()};
    return all;
}

}  // namespace relascope::core
