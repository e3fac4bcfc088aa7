// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/abstractor/abstractor.h"

#include <torch/nn/init.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>

#include "model/attention/positions.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kNormEps = 1e-3;  // of the framework the Abstractor was published in

}  // namespace

torch::Tensor HalvedPositions::rows(std::int64_t n, std::int64_t width,
                                    const torch::TensorOptions& options) {
    return m_table.get({n, width}, options, [&] { return halvedSinusoids(n, width); });
}

torch::Tensor HalvedPositions::addedTo(const torch::Tensor& x, std::int64_t first) {
    const auto pe = rows(first + x.size(-2), x.size(-1), x.options()).slice(0, first);
    return x * std::sqrt(static_cast<double>(x.size(-1))) + pe;
}

AbstractorAttentionImpl::AbstractorAttentionImpl(const AbstractorHeads& heads) : m_heads(heads) {
    const std::int64_t width = heads.n_heads * heads.key_dim;
    wq = register_module("wq", Linear(heads.d_model, width));
    wk = register_module("wk", heads.symmetric ? wq : Linear(heads.d_model, width));
    wv = register_module("wv", Linear(heads.d_model, width));
    wo = register_module("wo", Linear(width, heads.d_model));
    m_dropout = register_module("dropout", Dropout(heads.dropout));
}

torch::Tensor AbstractorAttentionImpl::forward(const torch::Tensor& query, const torch::Tensor& key,
                                               const torch::Tensor& value,
                                               const Symbols& relative) {
    const auto& o = m_heads;
    auto* cache = activeCache();
    const bool own = key.is_same(query);
    const std::int64_t past = tokensBefore();
    const HookedModule hooks(hook, past), others(hook, own ? past : 0);
    const auto project = [&](int slot, const char* name, Linear& linear, const torch::Tensor& x) {
        const auto heads = [&] {
            return hookedHeads(others, name, axes::heads, splitHeads(linear(x), o.n_heads));
        };
        return cache ? cache->appendOrStatic(this, slot, own, heads) : heads();
    };
    const auto queries =
        hookedHeads(hooks, "hook_q", axes::heads, splitHeads(wq(query), o.n_heads));
    const auto keys = project(0, "hook_k", wk, key),
               values = project(1, "hook_v", wv, value);  // [b, h, m, key_dim]
    const std::int64_t n = query.size(1), m = keys.size(2);
    const double scale = o.scaled ? 1.0 / std::sqrt(static_cast<double>(o.key_dim)) : 1.0;
    auto inner = torch::matmul(queries, keys.transpose(2, 3)) * scale;
    const auto open = inner;  // also of cells that the mask closes
    torch::Tensor hidden;     // [n, m], true where i may not attend to j
    const auto mask = torch::ones({n, m}, inner.options().dtype(torch::kBool));
    if (o.causal) hidden = mask.triu(1 + past);
    if (o.mask_diagonal)
        hidden = hidden.defined() ? hidden.logical_or(mask.tril(0).triu(0)) : mask.tril(0).triu(0);
    torch::Tensor alpha;
    const bool takesWeights = relascope::core::takesWeights(hooks);
    if (takesWeights) {
        constexpr double cut = -std::numeric_limits<double>::infinity();
        const bool masked = hidden.defined() && o.activation == "softmax";
        inner = hooks.cells("hook_attn_scores", axes::pattern,
                            masked ? inner.masked_fill(hidden, cut) : inner, past,
                            masked ? hidden : torch::Tensor(), cut);
        alpha = activateOpen(o.activation, inner);
    } else if (o.activation == "softmax") {
        // Finite, so that an object without any visible object gets zeros and not NaN.
        constexpr double never = -1e30;
        alpha = torch::softmax(hidden.defined() ? inner.masked_fill(hidden, never) : inner, -1);
    } else {
        alpha = applyActivation(o.activation, inner);
    }
    if (hidden.defined()) alpha = alpha.masked_fill(hidden, 0.0);
    if (takesWeights) alpha = hooks.cells("hook_pattern", axes::pattern, alpha, past, hidden);
    if (auto* recorder = activeRecorder()) {
        recorder->relations(path, torch::where(inner.isinf(), open, inner).permute({0, 2, 3, 1}));
        recorder->scores(path, alpha);
    }
    alpha = m_dropout(alpha);
    auto out = torch::matmul(alpha, values);  // [b, h, n, key_dim]
    if (relative.relative()) {
        // wv is linear: the symbol's part of the value is added without its bias.
        const auto rows = torch::matmul(relative.values, wv->weight.t());  // [2 max + 1, h * key]
        const auto s =
            rows.index_select(0, offsetRows(n, relative.maxOffset, query.device()).flatten())
                .view({n, m, o.n_heads, o.key_dim});  // [i, j, h, key_dim]
        out = out + torch::einsum("bhij,ijhk->bhik", {alpha, s});
    }
    out = hookedHeads(hooks, "hook_z", axes::heads, out);
    return wo(joinHeads(out));  // [b, n, d]
}

void initGlorot(torch::nn::Module& model) {
    const torch::NoGradGuard noGrad;
    for (const auto& item : model.named_modules("", false)) {
        auto* linear = item.value()->as<LinearImpl>();
        if (!linear) continue;
        torch::nn::init::xavier_uniform_(linear->weight);
        if (linear->bias.defined()) linear->bias.zero_();
    }
    // The fans of a projection are those of d and heads * (d + key), not those of one matrix; with
    // plain Glorot initialisation the simple model does not learn.
    for (const auto& item : model.named_modules("", false)) {
        auto* attention = item.value()->as<AbstractorAttentionImpl>();
        if (!attention) continue;
        const auto d = static_cast<double>(attention->wo->weight.size(0)),
                   width = static_cast<double>(attention->wo->weight.size(1)),
                   key = static_cast<double>(attention->keyDim()), heads = width / key;
        const double in = std::sqrt(6.0 / (d * (heads + key)));
        for (auto* projection : {&attention->wq, &attention->wk, &attention->wv})
            (*projection)->weight.uniform_(-in, in);
        const double out = std::sqrt(6.0 / (heads * (key + d)));
        attention->wo->weight.uniform_(-out, out);
    }
}

AbstractorBlockImpl::AbstractorBlockImpl(const Parts& parts) : m_parts(parts) {
    const std::int64_t d = parts.self.d_model;
    if (parts.hasSelf) {
        self_attn = register_module("self_attn", AbstractorAttention(parts.self));
        norm1 = register_module("norm1", Norm(d, parts.norm, kNormEps));
    }
    if (parts.kind != Middle::None) {
        middle = register_module(parts.kind == Middle::Relational ? "rca" : "cross_attn",
                                 AbstractorAttention(parts.middle));
        norm2 = register_module("norm2", Norm(d, parts.norm, kNormEps));
    }
    if (parts.hasFeedForward) {
        ff_block = register_module("ff_block", FeedForward(d, parts.dff, "relu", true));
        norm3 = register_module("norm3", Norm(d, parts.norm, kNormEps));
    }
    m_dropout = register_module("dropout", Dropout(parts.self.dropout));
}

torch::Tensor AbstractorBlockImpl::forward(torch::Tensor a, const torch::Tensor& x,
                                           const Symbols& relative) {
    const bool first = m_parts.normFirst;
    const HookedModule hooks(hook, tokensBefore());
    const auto point = [&](const char* name, const torch::Tensor& value) {
        return hooks(name, axes::stream, value);
    };
    a = point("hook_resid_pre", a);
    if (m_parts.hasSelf) {
        const auto y = first ? norm1(a) : a;
        a = a + point("hook_attn_out", self_attn(y, y, y));
        if (!first) a = norm1(a);
        a = point("hook_resid_mid", a);
    }
    if (m_parts.kind != Middle::None) {
        const auto y = first ? norm2(a) : a;
        const auto out =
            point("hook_cross_attn_out",
                  m_parts.kind == Middle::Relational ? middle(x, x, y, relative) : middle(y, x, x));
        const auto& kept = m_parts.residual == "objects" ? x : a;
        a = m_parts.residual == "none" ? out : kept + out;
        if (!first) a = norm2(a);
        a = point("hook_resid_mid_cross", a);
    }
    if (m_parts.hasFeedForward) {
        const auto y = m_dropout(point("hook_mlp_out", ff_block(first ? norm3(a) : a)));
        a = m_parts.residual == "none" ? y : a + y;
        if (!first) a = norm3(a);
    }
    a = point("hook_resid_post", a);
    if (auto* recorder = activeRecorder()) recorder->hidden(path, a);
    return a;
}

AbstractorImpl::AbstractorImpl(const AbstractorOptions& o, std::int64_t objects,
                               std::int64_t longest)
    : m_options(o) {
    if (o.symbol_retrieval == "learned")
        symbols = register_parameter("symbols", newNormal({objects, o.d_model}));
    else if (o.symbol_retrieval != "sinusoidal")
        symbol_retriever =
            register_module("symbol_retriever", makeSymbolRetriever(o, o.d_model, longest));
    AbstractorBlockImpl::Parts parts;
    parts.self = {o.d_model, o.heads(), o.keyDim(), o.dropout_rate};
    parts.middle = parts.self;
    parts.hasSelf = o.use_self_attn;
    parts.hasFeedForward = o.abs_feed_forward;
    parts.kind =
        o.relational ? AbstractorBlockImpl::Middle::Relational : AbstractorBlockImpl::Middle::Cross;
    if (o.relational) {
        parts.middle.activation = o.rca_activation;
        parts.middle.scaled = o.rca_scaled;
        parts.middle.mask_diagonal = o.mask_diagonal;
        parts.middle.symmetric = o.symmetric_rels;
    }
    parts.dff = o.feedForward();
    parts.norm = o.abs_norm;
    parts.normFirst = o.abs_norm_first;
    parts.residual = o.abs_residual;
    for (std::int64_t layer = 0; layer < o.n_layers_abs; ++layer)
        layers->push_back(AbstractorBlock(parts));
    register_module("layers", layers);
}

torch::Tensor AbstractorImpl::forward(const torch::Tensor& x) {
    const std::int64_t n = x.size(1);
    torch::Tensor a;   // [n, d] or [b, n, d]
    Symbols relative;  // of offsets: they are added to every message, and A starts at zero
    if (symbols.defined()) {
        if (n > symbols.size(0))
            throw OptionError("source", std::to_string(n) + " objects, but only " +
                                            std::to_string(symbols.size(0)) + " learned symbols");
        a = symbols.slice(0, 0, n);
    } else if (!symbol_retriever) {
        a = m_positions.rows(n, m_options.d_model, x.options());
    } else {
        auto retrieved = symbol_retriever->retrieve(x, 0, hook);
        if (retrieved.relative()) {
            relative = std::move(retrieved);
            a = torch::zeros({n, m_options.d_model}, x.options());
        } else {
            a = retrieved.values;
        }
    }
    if (m_options.symbol_positions) a = m_positions.addedTo(a);
    if (a.dim() == 2) a = a.unsqueeze(0).expand({x.size(0), n, m_options.d_model});
    a = HookedModule(hook)("hook_symbols", axes::stream, a);
    for (const auto& layer : *layers) a = layer->as<AbstractorBlockImpl>()->forward(a, x, relative);
    return a;
}

}  // namespace relascope::core
