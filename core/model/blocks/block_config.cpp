// SPDX-License-Identifier: GPL-3.0-or-later
// The published constructors' arguments of blocks and symbols (formats.md 5), read and written.
#include "model/blocks/block_info.h"

namespace relascope::core {
namespace {

// The arguments of the constructor of a kind of symbols, of `width`, in its order. False for an
// unknown kind.
template <class Options, class Width, class At>
bool symbolArguments(Options& m, Width& width, At at) {
    if (m.symbol_retrieval == "positional_symbols") {
        at("symbol_dim", width);
        at("max_length", m.max_length);
    } else if (m.symbol_retrieval == "position_relative") {
        at("symbol_dim", width);
        at("max_rel_pos", m.max_rel_pos);
    } else if (m.symbol_retrieval == "symbolic_attention") {
        at("d_model", width);
        at("n_heads", m.symbol_heads);
        at("n_symbols", m.n_symbols);
        at("dropout", m.symbol_dropout);
        at("scale", m.symbol_scale);
        at("trainable_symbols", m.trainable_symbols);
    } else if (m.symbol_retrieval == "rel_sym_attn") {
        at("d_model", width);
        at("rel_n_heads", m.rel_n_heads);
        at("symbolic_attn_n_heads", m.symbol_heads);
        at("n_symbols", m.n_symbols);
        at("nbhd_delta", m.nbhd_delta);
        at("causal_nbhd", m.causal_nbhd);
        at("include_self", m.include_self);
        at("normalize_rels", m.normalize_rels);
        at("dropout", m.symbol_dropout);
        at("rel_scale", m.rel_scale);
        at("symbolic_attn_scale", m.symbol_scale);
    } else {
        return false;
    }
    return true;
}

// The arguments of every block constructor, with the names of the plain or the dual one.
template <class Options, class At>
void blockArguments(Options& b, At at) {
    at("dff", b.dff);
    at("dropout_rate", b.dropout_rate);
    at("activation", b.activation);
    at("norm_first", b.norm_first);
    at("norm_type", b.norm_type);
    at("bias", b.bias);
}

}  // namespace

void setConstructorDefaults(BlockOptions& block, bool dual) {
    block.bias = true;
    block.symmetric_rels = false;
    block.dff = 0;
    if (!dual) block.n_heads_ra = 0;
}

void readSymbolsConfig(SymbolOptions& m, std::int64_t d, JsonArguments a) {
    std::int64_t width = d;
    if (!symbolArguments(m, width, [&a](const char* key, auto& value) { a.read(key, value); }))
        throw OptionError("symbol_retrieval",
                          "unknown symbol assignment '" + m.symbol_retrieval + "'");
    if (m.symbol_retrieval == "positional_symbols")
        a.has("sinusoidal");  // stored by some checkpoints, ignored by the published code
    a.done();
    if (width != d)
        throw OptionError("symbol_retrieval_kwargs", "symbols of width " + std::to_string(width) +
                                                         " do not fit the model's " +
                                                         std::to_string(d));
}

void readBlockConfig(BlockOptions& b, JsonArguments& a) {
    blockArguments(b, [&a](const char* key, auto& value) { a.read(key, value); });
}

void readAttentionConfig(JsonArguments a, std::int64_t& kvHeads, std::int64_t& keyDim, bool& biasKv,
                         bool* biasOut) {
    a.read("n_kv_heads", kvHeads);
    a.read("key_dim", keyDim);
    a.read("add_bias_kv", biasKv);
    if (biasOut) a.read("add_bias_out", *biasOut);
    a.done();
}

void readDualHeadsConfig(BlockOptions& b, JsonArguments& a, const std::string& symbols) {
    a.require({"n_heads_sa", "n_heads_ra"});
    a.read("n_heads_sa", b.n_heads_sa);
    a.read("n_heads_ra", b.n_heads_ra);
    a.read("ra_type", b.ra_type);
    a.read("share_attn_params", b.share_attn_params);
    readAttentionConfig(a.sub("sa_kwargs"), b.sa_n_kv_heads, b.sa_key_dim, b.sa_add_bias_kv,
                        &b.sa_add_bias_out);
    bool relative = false;
    auto ra = a.sub("ra_kwargs");
    ra.read("n_kv_heads", b.ra_n_kv_heads);
    ra.read("add_bias_kv", b.ra_add_bias_kv);
    ra.read("add_bias_out", b.ra_add_bias_out);
    ra.read("use_relative_positional_symbols", relative);
    if (b.ra_type == "relational_attention") {
        ra.read("key_dim", b.ra_key_dim);
        ra.read("n_relations", b.n_relations);
        ra.read("rel_proj_dim", b.rel_proj_dim);
        ra.read("rel_activation", b.rel_activation);
        ra.read("symmetric_rels", b.symmetric_rels);
    } else if (b.ra_type == "disrca") {
        ra.read("rel_activation", b.rel_activation);
    } else if (b.ra_type == "rca") {
        ra.read("activation", b.rca_activation);
    } else {
        throw OptionError(a.key("ra_type"), "unknown relational attention '" + b.ra_type + "'");
    }
    ra.done();
    if (b.n_heads_ra > 0 && relative != (symbols == "position_relative"))
        throw OptionError(a.key("ra_kwargs.use_relative_positional_symbols"),
                          "contradicts symbol_retrieval " + symbols);
}

ConfigJson orNull(std::int64_t n) {
    return n > 0 ? ConfigJson(n) : ConfigJson(nullptr);
}

ConfigJson symbolsConfig(const SymbolOptions& m, std::int64_t d, std::int64_t longest) {
    ConfigJson a;
    symbolArguments(m, d, [&a](const char* key, const auto& value) { a[key] = value; });
    if (a.contains("max_length")) a["max_length"] = m.symbolRows(longest);
    if (a.contains("max_rel_pos")) a["max_rel_pos"] = m.largestOffset(longest);
    for (const char* scale : {"scale", "rel_scale", "symbolic_attn_scale"})
        if (a.contains(scale) && !(a[scale] > 0.0)) a[scale] = nullptr;
    return a;
}

void writeBlockConfig(ConfigJson& a, const BlockOptions& b) {
    blockArguments(b, [&a](const char* key, const auto& value) { a[key] = value; });
    a["dff"] = orNull(b.dff);
}

void writeDualHeadsConfig(ConfigJson& a, const BlockOptions& b, const std::string& symbols) {
    a["n_heads_sa"] = b.n_heads_sa;
    a["n_heads_ra"] = b.n_heads_ra;
    a["ra_type"] = b.ra_type;
    a["share_attn_params"] = b.share_attn_params;
    a["sa_kwargs"] = {{"n_kv_heads", orNull(b.sa_n_kv_heads)},
                      {"key_dim", orNull(b.sa_key_dim)},
                      {"add_bias_kv", b.sa_add_bias_kv},
                      {"add_bias_out", b.sa_add_bias_out}};
    ConfigJson ra = {{"n_kv_heads", orNull(b.ra_n_kv_heads)},
                     {"add_bias_kv", b.ra_add_bias_kv},
                     {"add_bias_out", b.ra_add_bias_out},
                     {"use_relative_positional_symbols", symbols == "position_relative"}};
    if (b.ra_type == "relational_attention") {
        ra["key_dim"] = orNull(b.ra_key_dim);
        ra["n_relations"] = orNull(b.n_relations);
        ra["rel_proj_dim"] = orNull(b.rel_proj_dim);
        ra["rel_activation"] = b.rel_activation;
        ra["symmetric_rels"] = b.symmetric_rels;
    } else if (b.ra_type == "disrca") {
        ra["rel_activation"] = b.rel_activation;
    } else {
        ra["activation"] = b.rca_activation;
    }
    a["ra_kwargs"] = ra;
}

ConfigJson plainAttentionConfig(const BlockOptions& b) {
    return {{"n_kv_heads", orNull(b.sa_n_kv_heads)},
            {"key_dim", orNull(b.sa_key_dim)},
            {"add_bias_kv", b.sa_add_bias_kv}};
}

}  // namespace relascope::core
