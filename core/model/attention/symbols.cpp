// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/symbols.h"

#include <torch/nn/init.h>

#include <algorithm>
#include <cmath>

#include "model/attention/attention.h"
#include "model/attention/tiled_attention.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"
#include "types/error.h"

namespace relascope::core {

torch::Tensor offsetRows(std::int64_t n, std::int64_t maxOffset, const torch::Device& device) {
    const auto position =
        torch::arange(n, torch::TensorOptions().dtype(torch::kLong).device(device));
    return (position.unsqueeze(0) - position.unsqueeze(1)).clamp(-maxOffset, maxOffset) + maxOffset;
}

namespace {

std::string hookPrefix(const std::string& block) {
    return activeHooks() ? block + ".sym" : std::string();
}

}  // namespace

SymbolicAttentionImpl::SymbolicAttentionImpl(std::int64_t d, std::int64_t heads,
                                             std::int64_t n_symbols, double dropout, double scale,
                                             bool trainable)
    : m_heads(heads), m_scale(scale > 0 ? scale : 1.0 / std::sqrt(static_cast<double>(d / heads))) {
    q_proj = register_module("q_proj", Linear(d, d));
    template_features = register_parameter("template_features", newNormal({n_symbols, d}));
    symbol_library = register_parameter("symbol_library", newNormal({n_symbols, d}), trainable);
    m_dropout = register_module("dropout", Dropout(dropout));
}

Symbols SymbolicAttentionImpl::retrieve(const torch::Tensor& x, int layer,
                                        const std::string& block) {
    const auto* cache = activeCache();
    const HookedModule hooks(hookPrefix(block), cache ? cache->past() : 0);
    const bool takesMaps = takesWeights(hooks);
    const auto symbols = hooks("hook_library", axes::library, symbol_library);
    const auto query = splitHeads(q_proj(x), m_heads);                      // [b, h, n, d/h]
    const auto keys = splitHeads(template_features.unsqueeze(0), m_heads);  // [1, h, S, d/h]
    const auto library = splitHeads(symbols.unsqueeze(0), m_heads);         // [1, h, S, d/h]
    const auto retrieved = [&](const torch::Tensor& values) -> Symbols {
        return {hooks("hook_symbols", axes::stream, values)};
    };
    const auto everyone = [&x](const torch::Tensor& t) {
        return t.expand({x.size(0), t.size(1), t.size(2), t.size(3)});
    };
    if (auto* recorder = factorRecorder(); recorder && !takesMaps)
        recorder->symbols(path, layer, {query, keys, m_scale, "softmax"});
    // Kernels that do not store the weights are used where nobody asks for them.
    const bool drops = is_training() && m_dropout->p > 0;
    const bool needsMaps = recordsMaps() || takesMaps;
    if (!needsMaps && x.size(1) > 1 && servesTiles(query, keys, false) &&
        prefersTiles(std::max(x.size(1), keys.size(2)), x.size(0))) {
        return retrieved(tiledAttention(query, everyone(keys), everyone(library), -1, {},
                                        {m_scale, false, drops ? m_dropout->p : 0.0}));
    }
    if (!needsMaps && !drops && x.size(1) > 32) {
        return retrieved(joinHeads(torch::scaled_dot_product_attention(
            query, everyone(keys), everyone(library), {}, 0.0, false, m_scale)));
    }
    const auto scores = hooks("hook_attn_scores", axes::retrieval,
                              torch::matmul(query, keys.transpose(2, 3)) * m_scale);
    const auto weights =
        hooks("hook_pattern", axes::retrieval,
              takesMaps ? softmaxOfOpen(scores) : torch::softmax(scores, -1));  // [b, h, n, S]
    if (activeRecorder() && needsMaps) activeRecorder()->symbols(path, layer, weights);
    return retrieved(joinHeads(torch::matmul(m_dropout(weights), library)));  // [b, n, d]
}

void SymbolicAttentionImpl::shareLibrary(SymbolicAttentionImpl& other) {
    symbol_library = parameters_["symbol_library"] = other.symbol_library;
}

PositionalSymbolsImpl::PositionalSymbolsImpl(std::int64_t d, std::int64_t max_length) {
    symbol_library = register_module("symbol_library", Embedding(max_length, d));
}

void PositionalSymbolsImpl::shareLibrary(PositionalSymbolsImpl& other) {
    symbol_library = replace_module("symbol_library", other.symbol_library);
}

Symbols PositionalSymbolsImpl::retrieve(const torch::Tensor& x, int layer,
                                        const std::string& block) {
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0, n = past + x.size(1);
    if (n > symbol_library->weight.size(0))
        throw OptionError("max_length", std::to_string(n) + " objects, but only " +
                                            std::to_string(symbol_library->weight.size(0)) +
                                            " positional symbols");
    if (auto* recorder = factorRecorder())
        recorder->positionalSymbols(path, layer, n);
    else if (recordsMaps())
        activeRecorder()->symbols(path, layer,
                                  torch::eye(n, x.options()).unsqueeze(0).unsqueeze(0));
    const HookedModule hooks(hookPrefix(block), past);
    const auto table = hooks("hook_library", axes::library, symbol_library->weight);
    const auto rows =
        (cache ? cache->tokenRows(table, x.size(1)) : table.slice(0, 0, n)).to(x.scalar_type());
    if (!hooks.takes("hook_symbols")) return {rows};  // [n, d]
    return {hooks("hook_symbols", axes::stream,
                  rows.unsqueeze(0).expand({x.size(0), rows.size(0), rows.size(1)}))};
}

RelativePositionsImpl::RelativePositionsImpl(std::int64_t d, std::int64_t max_rel_pos) {
    rel_pos_embeddings = register_parameter(
        "rel_pos_embeddings", newParameter({2 * max_rel_pos + 1, d}, [](torch::Tensor& t) {
            torch::nn::init::xavier_uniform_(t);
        }));
}

PositionRelativeSymbolsImpl::PositionRelativeSymbolsImpl(std::int64_t d, std::int64_t max_rel_pos)
    : m_max(max_rel_pos) {
    rel_pos_enc = register_module("rel_pos_enc", RelativePositions(d, max_rel_pos));
}

Symbols PositionRelativeSymbolsImpl::retrieve(const torch::Tensor& x, int layer,
                                              const std::string& block) {
    if (auto* recorder = factorRecorder())
        recorder->relativeSymbols(path, layer, x.size(1), m_max);
    else if (recordsMaps())
        activeRecorder()->symbols(
            path, layer, offsetRows(x.size(1), m_max, x.device()).unsqueeze(0).unsqueeze(0));
    const HookedModule hooks(hookPrefix(block));
    return {hooks("hook_library", axes::library, rel_pos_enc->rel_pos_embeddings), m_max};
}

RelationalSymbolicAttentionImpl::RelationalSymbolicAttentionImpl(const SymbolOptions& o,
                                                                 std::int64_t d)
    : m_heads(o.rel_n_heads),
      m_delta(o.nbhd_delta),
      m_causal(o.causal_nbhd),
      m_self(o.include_self),
      m_normalize(o.normalize_rels),
      m_scale(o.rel_scale > 0 ? o.rel_scale
                              : 1.0 / std::sqrt(static_cast<double>(d / o.rel_n_heads))) {
    const std::int64_t count = (m_causal ? m_delta : 2 * m_delta) + (m_self ? 1 : 0);
    symbolic_attention = register_module(
        "symbolic_attention",
        std::make_shared<SymbolicAttentionImpl>(d, o.symbol_heads, o.n_symbols, o.symbol_dropout,
                                                o.symbol_scale, true));
    q_proj = register_module("q_proj", Linear(d, d));
    k_proj = register_module("k_proj", Linear(d, d));
    model_dim_proj = register_module("model_dim_proj", Linear(count * m_heads, d));
}

torch::Tensor RelationalSymbolicAttentionImpl::neighbours(std::int64_t n) const {
    std::vector<std::int64_t> offsets;
    if (m_causal) {
        for (std::int64_t back = m_self ? 0 : 1; back <= m_delta; ++back) offsets.push_back(-back);
    } else {
        for (std::int64_t offset = -m_delta; offset <= m_delta; ++offset)
            if (offset != 0 || m_self) offsets.push_back(offset);
    }
    return (torch::arange(n).unsqueeze(1) + torch::tensor(offsets).unsqueeze(0)).clamp(0, n - 1);
}

Symbols RelationalSymbolicAttentionImpl::retrieve(const torch::Tensor& x, int layer,
                                                  const std::string& block) {
    const auto index = m_neighbours.get({x.size(1)}, x.options().dtype(torch::kLong),
                                        [&] { return neighbours(x.size(1)); });  // [n, m]
    const auto query = splitHeads(q_proj(x), m_heads);                           // [b, h, n, w]
    const auto keys = splitHeads(k_proj(x), m_heads)
                          .index_select(2, index.flatten())
                          .unflatten(2, {index.size(0), index.size(1)});    // [b, h, n, m, w]
    auto relations = torch::matmul(keys, query.unsqueeze(-1)).squeeze(-1);  // [b, h, n, m]
    if (m_normalize) relations = torch::softmax(relations * m_scale, -1);
    // Flattened as (neighbour, head), as the published projection expects.
    const auto local = relations.permute({0, 2, 3, 1}).flatten(2);  // [b, n, m * h]
    return symbolic_attention->retrieve(model_dim_proj(local), layer, block);
}

std::shared_ptr<SymbolRetrieverImpl> makeSymbolRetriever(const SymbolOptions& o, std::int64_t d,
                                                         std::int64_t longest) {
    if (o.symbol_retrieval == "symbolic_attention")
        return std::make_shared<SymbolicAttentionImpl>(
            d, o.symbol_heads, o.n_symbols, o.symbol_dropout, o.symbol_scale, o.trainable_symbols);
    if (o.symbol_retrieval == "positional_symbols")
        return std::make_shared<PositionalSymbolsImpl>(d, o.symbolRows(longest));
    if (o.symbol_retrieval == "position_relative")
        return std::make_shared<PositionRelativeSymbolsImpl>(d, o.largestOffset(longest));
    if (o.symbol_retrieval == "rel_sym_attn")
        return std::make_shared<RelationalSymbolicAttentionImpl>(o, d);
    throw OptionError("model.symbol_retrieval",
                      "unknown symbol assignment '" + o.symbol_retrieval + "'");
}

}  // namespace relascope::core
