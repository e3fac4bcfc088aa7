// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/block_info.h"

#include <algorithm>
#include <stdexcept>

namespace relascope::core {
namespace fields {

FieldTable<BlockOptions> dualBlock(const std::vector<std::string>& without) {
    auto table = BlockOptions::fieldTable();
    std::erase_if(table, [&without](const auto& field) {
        return std::find(without.begin(), without.end(), field.spec.name) != without.end();
    });
    return table;
}

FieldTable<BlockOptions> plainBlock(const std::vector<std::string>& names) {
    FieldTable<BlockOptions> table;
    for (const auto& field : BlockOptions::fieldTable()) {
        if (std::find(names.begin(), names.end(), field.spec.name) == names.end()) continue;
        table.push_back(field);
        table.back().applies = [](const BlockOptions&) { return true; };
    }
    return table;
}

std::vector<std::string> plainHeads(const std::vector<std::string>& further) {
    auto names = kPlainBlock;
    names.insert(names.end(), {"sa_n_kv_heads", "sa_key_dim", "sa_add_bias_kv"});
    names.insert(names.end(), further.begin(), further.end());
    return names;
}

const FieldSpec& blockSpec(const std::string& name) {
    for (const auto& field : BlockOptions::fieldTable())
        if (field.spec.name == name) return field.spec;
    throw std::logic_error("there is no block option " + name);
}

std::string blockWidth(const BlockOptions& block, std::int64_t d, bool dual,
                       const std::string& name) {
    if (name == "dff") return std::to_string(feedForwardWidth(d, 0, block.activation));
    const std::int64_t heads = block.n_heads_sa + (dual ? block.n_heads_ra : 0);
    if (heads < 1) return {};
    const std::int64_t head = d / heads;
    if (name == "sa_key_dim" || name == "ra_key_dim") return std::to_string(head);
    if (name != "rel_proj_dim" || !dual || block.relations() < 1) return {};
    return std::to_string(head * block.n_heads_ra / block.relations());
}

}  // namespace fields

namespace {

std::int64_t orDefault(std::int64_t value, std::int64_t automatic) {
    return value > 0 ? value : automatic;
}

// wq, wk, wv, wo of heads of one width.
void addAttention(ShapeList& list, const std::string& name, std::int64_t d, std::int64_t heads,
                  std::int64_t headDim, std::int64_t keyHeads, std::int64_t keyDim, bool biasKv,
                  bool biasOut, const std::string& sharedWith = {}, bool biasQ = false,
                  std::int64_t outWidth = 0, const BlockDetails& details = {}) {
    const std::int64_t kv = orDefault(keyHeads, heads), key = orDefault(keyDim, headDim);
    if (sharedWith.empty()) {
        list.linear(name + ".wq", d, heads * key, biasQ);
        list.linear(name + ".wk", d, kv * key, biasKv && details.key_bias);
    } else {
        list.aliasOfLinear(name + ".wq", sharedWith + ".wq_attn", false);
        list.aliasOfLinear(name + ".wk", sharedWith + ".wk_attn", biasKv);
    }
    list.linear(name + ".wv", d, kv * headDim, biasKv && details.value_bias);
    list.linear(name + ".wo", heads * headDim, orDefault(outWidth, heads * headDim), biasOut);
}

void addRelationalHeads(ShapeList& list, const std::string& name, const StackOptions& s) {
    const auto& b = s.block;
    const std::int64_t d = s.d_model, heads = b.n_heads_ra, head = s.headDim(),
                       kv = orDefault(b.ra_n_kv_heads, heads), key = orDefault(b.ra_key_dim, head);
    const bool disentangled = b.ra_type == "relational_attention";
    const std::int64_t relations = b.relations(),
                       proj =
                           orDefault(b.rel_proj_dim, relations > 0 ? heads * head / relations : 0);
    if (disentangled) list.parameter(name + ".wr", {heads, head, relations});
    const bool biasQ = s.details.ra_add_bias_q;
    list.linear(name + ".wv", orDefault(s.symbolDim, d), kv * head, b.ra_add_bias_kv);
    list.linear(name + ".wo", heads * head, heads * head, b.ra_add_bias_out);
    if (disentangled) {
        list.linear(name + ".wq_attn", d, heads * key, biasQ);
        list.linear(name + ".wk_attn", d, kv * key, b.ra_add_bias_kv);
        list.linear(name + ".wq_rel", d, relations * proj, false);
        if (b.symmetric_rels)
            list.aliasOfLinear(name + ".wk_rel", name + ".wq_rel", false);
        else
            list.linear(name + ".wk_rel", d, relations * proj, false);
        return;
    }
    const bool rca = b.ra_type == "rca";
    list.linear(name + (rca ? ".wq" : ".wq_attn"), d, heads * head, biasQ);
    list.linear(name + (rca ? ".wk" : ".wk_attn"), d, kv * head, b.ra_add_bias_kv);
    if (rca) return;
    list.linear(name + ".wq_rel", d, heads * head, false);
    list.linear(name + ".wk_rel", d, kv * head, b.ra_add_bias_kv && s.details.rel_add_bias);
}

void addQueryNorms(ShapeList& list, const std::string& name, const StackOptions& s) {
    const auto& o = s.details;
    if (!o.hasQueryNorm()) return;
    const auto heads = s.block.n_heads_sa, key = orDefault(s.block.sa_key_dim, s.headDim());
    for (const auto& [part, count] :
         {std::pair{".q_norm", heads}, {".k_norm", orDefault(s.block.sa_n_kv_heads, heads)}})
        list.norm(name + part, o.qk_norm == "all" ? count * key : key, o.qk_norm_type,
                  o.qk_norm == "heads" ? count : 0);
}

// The feed-forward of one layer.
void addFeedForward(ShapeList& list, const std::string& name, const StackOptions& s) {
    const auto& o = s.details;
    const auto one = [&](const std::string& at) {
        list.feedForward(at, s.d_model, s.block.dff, s.block.activation, s.feedForwardBias);
    };
    if (o.experts == 0) return one(name);
    list.linear(name + ".gate", s.d_model, o.experts, false);
    for (std::int64_t e = 0; e < o.experts; ++e) one(name + ".experts." + std::to_string(e));
}

std::string keyHeadsText(std::int64_t heads, std::int64_t keyHeads) {
    std::string text = countText(heads, "head");
    if (keyHeads > 0 && keyHeads != heads) text += ", " + countText(keyHeads, "key head");
    return text;
}

}  // namespace

void addBlockShapes(ShapeList& list, const std::string& name, std::int64_t layers,
                    const StackOptions& s) {
    const auto& b = s.block;
    for (std::int64_t i = 0; i < layers; ++i) {
        const auto layer = s.ofLayer(i);
        const auto& details = layer.details;
        const std::string block = name + "." + std::to_string(i);
        const auto norm = [&](const char* of) { list.norm(block + of, s.d_model, b.norm_type); };
        if (details.norm_before) norm(".norm1");
        if (s.dual) {
            const std::string dual = block + ".dual_attn", ra = dual + ".relational_attention";
            if (b.n_heads_ra > 0) addRelationalHeads(list, ra, s);
            if (b.n_heads_sa > 0)
                addAttention(list, dual + ".self_attention", s.d_model, b.n_heads_sa, s.headDim(),
                             b.sa_n_kv_heads, b.sa_key_dim, b.sa_add_bias_kv, b.sa_add_bias_out,
                             b.share_attn_params && b.n_heads_ra > 0 ? ra : "",
                             s.details.sa_add_bias_q);
        } else {
            if (details.hasOwnPlaces())
                list.parameter(block + ".self_attn.place_bias",
                               {details.placeRows(), b.n_heads_sa});
            addAttention(list, block + ".self_attn", s.d_model, b.n_heads_sa, s.headDim(),
                         b.sa_n_kv_heads, b.sa_key_dim, b.sa_add_bias_kv, b.bias, {},
                         s.details.sa_add_bias_q, s.d_model, s.details);
            addQueryNorms(list, block + ".self_attn", s);
        }
        const auto behind = [&](const char* of) {
            if (details.layer_scale) return list.parameter(block + of + ".weight", {s.d_model});
            if (details.norm_behind) norm(of);
        };
        behind(".norm1_behind");
        if (details.norm_before && !details.one_norm) norm(".norm2");
        if (s.decoder) {
            addAttention(list, block + ".cross_attn", s.d_model, s.crossHeads,
                         s.d_model / s.crossHeads, s.crossKeyHeads, s.crossKeyDim, s.crossBiasKv,
                         s.crossBiasOut);
            norm(".norm3");
        }
        addFeedForward(list, block + ".ff_block", layer);
        behind(".norm2_behind");
    }
}

void addSymbolShapes(ShapeList& list, const std::string& name, const SymbolOptions& o,
                     std::int64_t d, std::int64_t longest, const SymbolDetails& details) {
    const std::int64_t width = orDefault(details.symbol_dim, d);
    const auto library = [&](const std::string& at) {
        list.parameter(at + ".template_features", {o.n_symbols, d});
        list.parameter(at + ".symbol_library", {o.n_symbols, width}, o.trainable_symbols);
        list.linear(at + ".q_proj", d, d, details.symbol_bias);
    };
    if (o.symbol_retrieval == "symbolic_attention") {
        library(name);
    } else if (o.symbol_retrieval == "positional_symbols") {
        if (!details.sinusoidal_symbols)
            list.parameter(name + ".symbol_library.weight", {o.symbolRows(longest), width});
    } else if (o.symbol_retrieval == "position_relative") {
        if (!details.rotary_symbols)
            list.parameter(name + ".rel_pos_enc.rel_pos_embeddings",
                           {2 * o.largestOffset(longest) + 1, width});
    } else if (o.symbol_retrieval == "rel_sym_attn") {
        const std::int64_t neighbours =
            (o.causal_nbhd ? 1 : 2) * o.nbhd_delta + (o.include_self ? 1 : 0);
        library(name + ".symbolic_attention");
        list.linear(name + ".q_proj", d, d, details.neighbour_bias);
        list.linear(name + ".k_proj", d, d, details.neighbour_bias);
        list.linear(name + ".model_dim_proj", neighbours * o.rel_n_heads, d);
    }
}

namespace {

// What the scores of a layer have beside queries and keys: ", rotary, normed, window 4096".
std::string scoresText(const StackOptions& s) {
    const auto& o = s.details;
    std::string text = s.rope ? ", rotary" : "";
    if (o.hasQueryNorm()) text += ", normed queries and keys";
    if (o.sliding_window > 0) text += ", window " + std::to_string(o.sliding_window);
    if (o.distance != "none") text += ", distances";
    if (o.hasPlaceBias()) text += ", biases by place";
    if (o.score_cap > 0) text += ", capped";
    return text;
}

}  // namespace

void addBlockOutline(OutlineBuilder& builder, const std::string& title, const std::string& name,
                     std::int64_t layers, const StackOptions& s) {
    auto* stack = builder.add(title, name, countText(layers, "block"));
    if (!stack) return;
    const auto& b = s.block;
    std::string relational = keyHeadsText(b.n_heads_ra, b.ra_n_kv_heads);
    if (b.ra_type != "relational_attention") {
        relational += ", " + b.ra_type;
    } else {
        relational += ", " + countText(b.relations(), "relation");
        if (b.symmetric_rels) relational += ", symmetric";
        if (b.rel_activation != "identity") relational += ", " + b.rel_activation;
    }
    for (std::int64_t i = 0; i < layers; ++i) {
        const auto layer = s.ofLayer(i);
        const auto& details = layer.details;
        const std::string sensory = keyHeadsText(b.n_heads_sa, b.sa_n_kv_heads) + scoresText(layer);
        auto* node = builder.add(*stack, "block " + std::to_string(i + 1), std::to_string(i),
                                 !b.norm_first          ? "post-norm"
                                 : !details.norm_behind ? "pre-norm"
                                 : details.norm_before  ? "norms before and behind"
                                                        : "norms behind");
        if (!node) return;
        builder.add(*node, "sensory attention", "dual_attn.self_attention", sensory);
        builder.add(*node, "relational attention", "dual_attn.relational_attention", relational);
        builder.add(*node, "self-attention", "self_attn", sensory);
        if (s.decoder)
            builder.add(*node, "cross-attention", "cross_attn", countText(s.crossHeads, "head"));
        builder.add(*node, details.experts > 0 ? "experts" : "feed-forward", "ff_block",
                    (details.experts > 0 ? std::to_string(details.experts_chosen) + " of " +
                                               std::to_string(details.experts) + ", "
                                         : std::string()) +
                        feedForwardText(b.activation, layer.block.dff));
        for (const std::string norm : {"norm1", "norm1_behind", "norm2", "norm2_behind", "norm3"}) {
            const bool scale = details.layer_scale && norm.ends_with("_behind");
            builder.add(*node, scale ? "layer scale " + norm.substr(4, 1) : norm, norm,
                        scale ? std::string() : b.norm_type);
        }
    }
}

std::string symbolText(const SymbolOptions& o, std::int64_t longest, const SymbolDetails& details) {
    if (o.symbol_retrieval == "positional_symbols")
        return details.sinusoidal_symbols ? "sinusoids by position"
                                          : std::to_string(o.symbolRows(longest)) + " by position";
    if (o.symbol_retrieval == "position_relative")
        return std::string(details.rotary_symbols ? "rotary, " : "") + "by offset, up to " +
               std::to_string(o.largestOffset(longest));
    std::string text = std::to_string(o.n_symbols) + " in a library, " +
                       countText(o.symbol_heads, "head") + (o.trainable_symbols ? "" : ", frozen");
    if (o.symbol_retrieval == "rel_sym_attn") text += ", retrieved by relations to neighbours";
    return text;
}

std::string feedForwardText(const std::string& activation, std::int64_t dff) {
    return activation + (dff > 0 ? ", " + std::to_string(dff) + " wide" : "");
}

void addLayers(std::vector<LayerPlace>& places, const std::string& module, std::int64_t layers,
               const std::string& name, bool causal) {
    for (std::int64_t i = 0; i < layers; ++i)
        places.push_back({module + std::to_string(i),
                          {name + " " + std::to_string(i + 1), kSourceSide, kSourceSide},
                          causal});
}

std::vector<LayerPlace> layersOf(const std::string& module, std::int64_t layers,
                                 const std::string& name, bool causal) {
    std::vector<LayerPlace> places;
    addLayers(places, module, layers, name, causal);
    return places;
}

void addDecoderLayer(std::vector<LayerPlace>& places, const std::string& module,
                     const std::string& name, int context, bool causal) {
    places.push_back({module, {name, kTargetSide, kTargetSide}, causal});
    places.push_back({module + ".cross_attn", {name + " cross", kTargetSide, context}});
}

void letterProblems(const char* field, const std::string& letters, const char* known,
                    ProblemList& list) {
    if (letters.find_first_not_of(known) != std::string::npos)
        list.refuse(field, "'" + letters.substr(0, 40) + "' has other letters than " + known +
                               "; give one of these for each layer");
}

void layerKindProblems(const std::string& kinds, std::int64_t window, ProblemList& list) {
    letterProblems("layer_kinds", kinds, "FWfw", list);
    if (kinds.find_first_of("Ww") != std::string::npos && window == 0)
        list.refuse("sliding_window",
                    "layers attend within a window, and it is 0; give its width in tokens");
}

std::string headsText(const BlockOptions& block) {
    return "sa" + std::to_string(block.n_heads_sa) + " ra" + std::to_string(block.n_heads_ra);
}

WorkEstimate blockWork(const StackOptions& s, std::int64_t layers, const SymbolOptions* symbols) {
    const auto& b = s.block;
    WorkEstimate work;
    work.layers = layers;
    work.d_model = s.d_model;
    work.dff = feedForwardWidth(s.d_model, b.dff, b.activation);
    if (s.details.experts > 0)  // width of a token's experts
        work.dff = s.details.experts_chosen *
                   feedForwardWidth(s.d_model, s.ofLayer(0).block.dff, b.activation);
    work.heads = b.n_heads_sa + (s.dual ? b.n_heads_ra : 0);
    work.relations = s.dual ? b.relations() : 0;
    const auto projected = s.dual && b.ra_type == "relational_attention" && b.rel_proj_dim > 0
                               ? b.rel_proj_dim * b.relations()
                               : s.d_model;
    work.headFactors =
        2 * std::max(s.d_model,
                     work.heads * s.headDim());  // more than enough where heads share their keys
    work.relationFactors = work.relations > 0 ? 2 * projected : 0;
    if (symbols && symbols->symbol_retrieval == "symbolic_attention")
        work.symbolScores = symbols->symbol_heads * symbols->n_symbols;
    work.keepsMatrices = s.dual && b.dropout_rate > 0;
    return work;
}

}  // namespace relascope::core
