// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/symbols.h"

#include <torch/nn/init.h>

#include <algorithm>
#include <cmath>

#include "model/attention/attention.h"
#include "model/attention/block_attention.h"
#include "model/attention/positions.h"
#include "model/attention/tiled_attention.h"
#include "model/blocks/module_span.h"
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

std::int64_t widthOr(const SymbolDetails& details, std::int64_t d) {
    return details.symbol_dim > 0 ? details.symbol_dim : d;
}

}  // namespace

SymbolicAttentionImpl::SymbolicAttentionImpl(const SymbolOptions& o, std::int64_t d,
                                             const SymbolDetails& details)
    : m_heads(o.symbol_heads),
      m_scale(o.symbol_scale > 0 ? o.symbol_scale
                                 : 1.0 / std::sqrt(static_cast<double>(d / o.symbol_heads))) {
    q_proj = register_module("q_proj", Linear(d, d, details.symbol_bias));
    template_features = register_parameter("template_features", newNormal({o.n_symbols, d}));
    symbol_library = register_parameter(
        "symbol_library", newNormal({o.n_symbols, widthOr(details, d)}), o.trainable_symbols);
    m_dropout = register_module("dropout", Dropout(o.symbol_dropout));
}

Symbols SymbolicAttentionImpl::retrieve(const torch::Tensor& x, int layer,
                                        const std::string& block) {
    const ModuleSpan span(*this);
    const auto* cache = activeCache();
    const HookedModule hooks(hookPrefix(block), cache ? cache->past() : 0);
    const bool takesMaps = takesWeights(hooks);
    const auto symbols = hooks("hook_library", axes::library, symbol_library);
    const auto query = splitHeads(q_proj(x), m_heads);                      // [b, h, n, d/h]
    const auto keys = splitHeads(template_features.unsqueeze(0), m_heads);  // [1, h, S, d/h]
    const auto library = splitHeads(symbols.unsqueeze(0), m_heads);         // [1, h, S, D/h]
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
        const KernelOptions how{m_scale, false, drops ? m_dropout->p : 0.0};
        if (servesBlockAttention(query, keys, library, false))
            return retrieved(blockAttention(query, everyone(keys), everyone(library), how));
        return retrieved(tiledAttention(query, everyone(keys), everyone(library), -1, {}, how));
    }
    if (!needsMaps && !drops && x.size(1) > 32) {
        return retrieved(joinHeads(torch::scaled_dot_product_attention(
            query, everyone(keys), everyone(library), {}, 0.0, false, m_scale)));
    }
    const auto scores = hooks("hook_attn_scores", axes::retrieval,
                              torch::matmul(query, keys.transpose(2, 3)) * m_scale);
    const auto weights =
        hooks("hook_pattern", axes::retrieval,
              takesMaps ? softmaxOfOpen(scores) : softmaxOf(scores));  // [b, h, n, S]
    if (activeRecorder() && needsMaps) activeRecorder()->symbols(path, layer, weights);
    return retrieved(joinHeads(torch::matmul(m_dropout(weights), library)));  // [b, n, D]
}

void SymbolicAttentionImpl::shareLibrary(SymbolicAttentionImpl& other) {
    symbol_library = parameters_["symbol_library"] = other.symbol_library;
}

PositionalSymbolsImpl::PositionalSymbolsImpl(std::int64_t width, std::int64_t max_length,
                                             bool sinusoidal)
    : m_width(width), m_rows(max_length) {
    if (!sinusoidal)
        symbol_library = register_module("symbol_library", Embedding(max_length, width));
}

torch::Tensor PositionalSymbolsImpl::library(const torch::Tensor& like) {
    if (!symbol_library.is_empty()) return symbol_library->weight;
    return m_sinusoids.get({m_rows}, like.options(),
                           [this] { return interleavedSinusoids(m_rows, m_width); });
}

void PositionalSymbolsImpl::shareLibrary(PositionalSymbolsImpl& other) {
    symbol_library = replace_module("symbol_library", other.symbol_library);
}

Symbols PositionalSymbolsImpl::retrieve(const torch::Tensor& x, int layer,
                                        const std::string& block) {
    const ModuleSpan span(*this);
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0, n = past + x.size(1);
    if (n > m_rows)
        throw OptionError("max_length", std::to_string(n) + " objects, but only " +
                                            std::to_string(m_rows) + " positional symbols");
    if (auto* recorder = factorRecorder())
        recorder->positionalSymbols(path, layer, n);
    else if (recordsMaps())
        activeRecorder()->symbols(path, layer,
                                  torch::eye(n, x.options()).unsqueeze(0).unsqueeze(0));
    const HookedModule hooks(hookPrefix(block), past);
    const auto table = hooks("hook_library", axes::library, library(x));
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
    const ModuleSpan span(*this);
    if (auto* recorder = factorRecorder())
        recorder->relativeSymbols(path, layer, x.size(1), m_max);
    else if (recordsMaps())
        activeRecorder()->symbols(
            path, layer, offsetRows(x.size(1), m_max, x.device()).unsqueeze(0).unsqueeze(0));
    const HookedModule hooks(hookPrefix(block));
    return {hooks("hook_library", axes::library, library(x)), m_max};
}

torch::Tensor PositionRelativeSymbolsImpl::library(const torch::Tensor&) {
    return rel_pos_enc->rel_pos_embeddings;
}

RotarySymbolsImpl::RotarySymbolsImpl(std::int64_t width, std::int64_t max_rel_pos, double theta)
    : PositionRelativeSymbolsImpl(max_rel_pos), m_width(width), m_theta(theta) {}

torch::Tensor RotarySymbolsImpl::library(const torch::Tensor& like) {
    return m_table.get({m_max}, like.options(), [this] {
        const auto angle = rotaryAngles(torch::arange(-m_max, m_max + 1, torch::kFloat), m_width,
                                        m_theta);  // [2 max + 1, width / 2]
        return torch::stack({angle.cos(), angle.sin()}, 2).flatten(1);
    });
}

RelationalSymbolicAttentionImpl::RelationalSymbolicAttentionImpl(const SymbolOptions& o,
                                                                 std::int64_t d,
                                                                 const SymbolDetails& details)
    : m_heads(o.rel_n_heads),
      m_delta(o.nbhd_delta),
      m_causal(o.causal_nbhd),
      m_self(o.include_self),
      m_normalize(o.normalize_rels),
      m_scale(o.rel_scale > 0 ? o.rel_scale
                              : 1.0 / std::sqrt(static_cast<double>(d / o.rel_n_heads))) {
    const std::int64_t count = (m_causal ? m_delta : 2 * m_delta) + (m_self ? 1 : 0);
    symbolic_attention = register_module("symbolic_attention",
                                         std::make_shared<SymbolicAttentionImpl>(o, d, details));
    q_proj = register_module("q_proj", Linear(d, d, details.neighbour_bias));
    k_proj = register_module("k_proj", Linear(d, d, details.neighbour_bias));
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
    const ModuleSpan span(*this);
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0, all = past + x.size(1);
    const auto index =
        m_neighbours.get({all}, x.options().dtype(torch::kLong), [&] { return neighbours(all); })
            .slice(0, past);                            // [n, m]
    const auto query = splitHeads(q_proj(x), m_heads);  // [b, h, n, w]
    auto own = splitHeads(k_proj(x), m_heads);
    // The layers share the retriever, and have their own streams.
    if (cache) own = cache->append(this, layer, own);
    const auto keys = own.index_select(2, index.flatten())
                          .unflatten(2, {index.size(0), index.size(1)});    // [b, h, n, m, w]
    auto relations = torch::matmul(keys, query.unsqueeze(-1)).squeeze(-1);  // [b, h, n, m]
    if (m_normalize) relations = softmaxOf(relations * m_scale);
    // Flattened as (neighbour, head), as the published projection expects.
    const auto local = relations.permute({0, 2, 3, 1}).flatten(2);  // [b, n, m * h]
    return symbolic_attention->retrieve(model_dim_proj(local), layer, block);
}

std::shared_ptr<SymbolRetrieverImpl> makeSymbolRetriever(const SymbolOptions& o, std::int64_t d,
                                                         std::int64_t longest,
                                                         const SymbolDetails& details,
                                                         double theta) {
    const auto width = widthOr(details, d);
    if (o.symbol_retrieval == "symbolic_attention")
        return std::make_shared<SymbolicAttentionImpl>(o, d, details);
    if (o.symbol_retrieval == "positional_symbols")
        return std::make_shared<PositionalSymbolsImpl>(width, o.symbolRows(longest),
                                                       details.sinusoidal_symbols);
    if (o.symbol_retrieval == "position_relative" && details.rotary_symbols)
        return std::make_shared<RotarySymbolsImpl>(width, o.largestOffset(longest), theta);
    if (o.symbol_retrieval == "position_relative")
        return std::make_shared<PositionRelativeSymbolsImpl>(width, o.largestOffset(longest));
    if (o.symbol_retrieval == "rel_sym_attn")
        return std::make_shared<RelationalSymbolicAttentionImpl>(o, d, details);
    throw OptionError("model.symbol_retrieval",
                      "unknown symbol assignment '" + o.symbol_retrieval + "'");
}

}  // namespace relascope::core
