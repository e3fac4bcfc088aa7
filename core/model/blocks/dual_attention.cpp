// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/dual_attention.h"

#include "model/blocks/experts.h"
#include "model/blocks/module_span.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"

namespace relascope::core {
HeadOptions sensoryOptions(const StackOptions& s) {
    const auto& o = s.block;
    HeadOptions h;
    h.d_model = s.d_model;
    h.n_heads = o.n_heads_sa;
    h.head_dim = s.headDim();
    h.n_kv_heads = o.sa_n_kv_heads;
    h.key_dim = o.sa_key_dim;
    h.add_bias_q = s.details.sa_add_bias_q;
    h.dropout = o.dropout_rate;
    // The published block drops the attention's output twice in a row, in the heads and again
    // before the residual; one mask of the joint probability has the same distribution.
    h.output_dropout = twiceDropped(o.dropout_rate);
    h.add_bias_kv = o.sa_add_bias_kv;
    h.key_bias = s.details.key_bias, h.value_bias = s.details.value_bias;
    h.add_bias_out = o.sa_add_bias_out;
    h.causal = s.causal;
    h.rope = s.rope;
    h.rotary = s.details;
    h.window = s.details.sliding_window;
    static_cast<ScoreOptions&>(h) = s.details;
    h.norm_eps = s.details.norm_eps, h.norm_plus_one = s.details.norm_plus_one;
    return h;
}

namespace {

RelationalOptions relationalOptions(const StackOptions& s) {
    const auto& o = s.block;
    RelationalOptions r;
    static_cast<HeadOptions&>(r) = sensoryOptions(s);
    r.n_heads = o.n_heads_ra;
    r.n_kv_heads = o.ra_n_kv_heads;
    r.add_bias_kv = o.ra_add_bias_kv;
    r.add_bias_out = o.ra_add_bias_out;
    r.key_dim = o.ra_key_dim;
    r.n_relations = o.ra_type == "relational_attention" ? o.n_relations : 0;
    r.rel_proj_dim = o.ra_type == "relational_attention" ? o.rel_proj_dim : 0;
    r.rel_activation = o.rel_activation;
    r.symmetric_rels = o.symmetric_rels;
    r.rca_activation = o.rca_activation;
    r.add_bias_q = s.details.ra_add_bias_q;
    r.rel_add_bias = s.details.rel_add_bias;
    r.masked_relations = s.details.masked_relations;
    r.symbol_dim = s.symbolDim;
    return r;
}

}  // namespace

HeadOptions crossOptions(const StackOptions& s) {
    HeadOptions c;
    c.d_model = s.d_model;
    c.n_heads = s.crossHeads;
    c.head_dim = s.d_model / s.crossHeads;
    c.n_kv_heads = s.crossKeyHeads;
    c.key_dim = s.crossKeyDim;
    c.dropout = s.block.dropout_rate;
    c.output_dropout = twiceDropped(s.block.dropout_rate);
    c.add_bias_kv = s.crossBiasKv;
    c.add_bias_out = s.crossBiasOut;
    return c;
}

DualAttentionImpl::DualAttentionImpl(const StackOptions& s) {
    const auto& o = s.block;
    if (o.n_heads_ra > 0)
        relational_attention = register_module(
            "relational_attention", makeRelationalHeads(o.ra_type, relationalOptions(s)));
    if (o.n_heads_sa > 0) {
        self_attention = register_module("self_attention", Attention(sensoryOptions(s)));
        if (o.share_attn_params) {
            const auto tie = [&](const Linear& wq, const Linear& wk) {
                self_attention->wq = self_attention->replace_module("wq", wq);
                self_attention->wk = self_attention->replace_module("wk", wk);
            };
            if (auto ra = std::dynamic_pointer_cast<RelationalAttentionImpl>(relational_attention))
                tie(ra->wq_attn, ra->wk_attn);
            if (auto ra =
                    std::dynamic_pointer_cast<DisentangledCrossAttentionImpl>(relational_attention))
                tie(ra->wq_attn, ra->wk_attn);
        }
    }
}

torch::Tensor DualAttentionImpl::forward(const torch::Tensor& x, const Symbols& symbols,
                                         const HookedModule& block) {
    if (block.takes("hook_attn_out")) return hooked(x, symbols, block);
    if (self_attention.is_empty()) return relational_attention->forward(x, symbols);
    const auto e = self_attention(x, x, x);  // [b, n, h_sa * d_h]
    if (!relational_attention) return e;
    const auto a = relational_attention->forward(x, symbols);  // [b, n, h_ra * d_h]
    return torch::cat({e, a}, -1);                             // [b, n, d]
}

torch::Tensor DualAttentionImpl::hooked(const torch::Tensor& x, const Symbols& symbols,
                                        const HookedModule& block) {
    if (!relational_attention)
        return hookedOutput(block, "hook_attn_out", self_attention, self_attention->heads(x, x, x));
    auto& relational = *relational_attention;
    torch::Tensor e;
    if (!self_attention.is_empty()) e = self_attention->wo(self_attention->heads(x, x, x));
    const auto a = relational.wo(relational.heads(x, symbols));
    if (!e.defined()) return relational.dropOutput(block("hook_attn_out", axes::stream, a));
    // The two kinds drop their outputs apart, after the point.
    const auto both = block("hook_attn_out", axes::stream, torch::cat({e, a}, -1));
    return torch::cat({self_attention->dropOutput(both.slice(2, 0, e.size(2))),
                       relational.dropOutput(both.slice(2, e.size(2)))},
                      -1);
}

torch::Tensor hookedOutput(const HookedModule& block, const char* name, Attention& attention,
                           const torch::Tensor& heads) {
    return attention->dropOutput(block(name, axes::stream, attention->wo(heads)));
}

NormedSum hookedSum(const HookedModule& block, const char* name, Norm& norm, const torch::Tensor& x,
                    const torch::Tensor& branch, double p) {
    if (!block.takes(name)) return norm->ofSum(x, branch, p, true);
    return norm->ofSum(block(name, axes::stream, x + dropout(branch, p)), {}, 0.0, true);
}

DualAttnEncoderBlockImpl::DualAttnEncoderBlockImpl(const StackOptions& s)
    : m_normFirst(s.block.norm_first) {
    const auto& o = s.block;
    const double eps = s.details.norm_eps;
    norm1 = register_module("norm1", Norm(s.d_model, o.norm_type, eps));
    dual_attn = register_module("dual_attn", DualAttention(s));
    norm2 = register_module("norm2", Norm(s.d_model, o.norm_type, eps));
    ff_block =
        register_module("ff_block", FeedForward(s.d_model, o.dff, o.activation, s.feedForwardBias));
    m_dropout = register_module("dropout", Dropout(o.dropout_rate));
}

namespace {

// x through attention and feed-forward, both with residual connections.
template <class Attend, class Feed>
torch::Tensor throughEncoderBlock(const HookedModule& hooks, bool normFirst, torch::Tensor x,
                                  Norm& norm1, Norm& norm2, Dropout& drop, Attend&& attend,
                                  Feed&& fed) {
    const double p = drop->active();
    x = hooks("hook_resid_pre", axes::stream, x);
    if (normFirst) {
        const auto in = norm1->ofSum(x, {}, 0.0, true);
        const auto middle = hookedSum(hooks, "hook_resid_mid", norm2, in.sum, attend(in.normed));
        x = addDropped(middle.sum, fed(middle.normed), p);
    } else {
        x = drop(hooks("hook_resid_mid", axes::stream, norm1->ofSum(x, attend(x)).normed));
        x = norm2->ofSum(x, fed(x), p).normed;
    }
    return hooks("hook_resid_post", axes::stream, x);
}

// x + attention(norm1 x) + feed-forward(norm2 x), or norm1 again where there is no other: neither
// reads what the other adds, and there is no stream between the two.
template <class Attend, class Feed>
torch::Tensor throughParallelBlock(const HookedModule& hooks, torch::Tensor x, Norm& norm1,
                                   Norm& norm2, Dropout& drop, Attend&& attend, Feed&& feed) {
    const double p = drop->active();
    x = hooks("hook_resid_pre", axes::stream, x);
    const auto normed = norm1(x);
    const auto attended = attend(normed), fed = feed(norm2.is_empty() ? normed : norm2(x));
    return hooks("hook_resid_post", axes::stream, addDropped(addDropped(x, attended, 0.0), fed, p));
}

}  // namespace

torch::Tensor DualAttnEncoderBlockImpl::forward(torch::Tensor x, const Symbols& symbols) {
    return forward(x, [&symbols](const torch::Tensor&) { return symbols; });
}

torch::Tensor DualAttnEncoderBlockImpl::forward(torch::Tensor x, const Retrieve& retrieve) {
    const ModuleSpan span(*this);
    const HookedModule hooks(hook, tokensBefore());
    x = throughEncoderBlock(
        hooks, m_normFirst, x, norm1, norm2, m_dropout,
        [&](const torch::Tensor& y) { return dual_attn(y, retrieve(y), hooks); },
        [&](const torch::Tensor& y) { return hooks("hook_mlp_out", axes::stream, ff_block(y)); });
    if (auto* recorder = activeRecorder()) recorder->hidden(path, x);
    return x;
}

EncoderBlockImpl::EncoderBlockImpl(const StackOptions& s)
    : m_normFirst(s.block.norm_first),
      m_parallel(s.details.parallel_residual),
      m_residualScale(s.details.residual_scale) {
    const auto& o = s.block;
    auto heads = sensoryOptions(s);
    heads.add_bias_out = o.bias;
    heads.out_width = s.d_model;
    const auto norm = [&](const char* name, bool there = true) {
        return register_module(name, Norm(s.d_model, there ? o.norm_type : "none",
                                          s.details.norm_eps, s.details.norm_plus_one));
    };
    // A layer scale stands where other models have norms behind.
    const auto behind = [&](const char* name) {
        return s.details.layer_scale ? register_module(name, Norm(s.d_model, "scale")) : norm(name);
    };
    const bool hasBehind = s.details.norm_behind || s.details.layer_scale;
    norm1 = norm("norm1", s.details.norm_before);
    self_attn = register_module("self_attn", Attention(heads));
    if (hasBehind) norm1_behind = behind("norm1_behind");
    if (!s.details.one_norm) norm2 = norm("norm2", s.details.norm_before);
    ff_block = register_module("ff_block", makeFeedForward(s));
    if (hasBehind) norm2_behind = behind("norm2_behind");
    m_dropout = register_module("dropout", Dropout(o.dropout_rate));
}

torch::Tensor EncoderBlockImpl::forward(torch::Tensor x) {
    const ModuleSpan span(*this);
    const HookedModule hooks(hook, tokensBefore());
    // What a sub-layer adds to the stream, of its output.
    const auto added = [&](const char* name, Norm& behind, const torch::Tensor& output) {
        auto y = behind.is_empty() ? output : behind(output);
        if (m_residualScale != 1.0) y = y * m_residualScale;
        return hooks(name, axes::stream, y);
    };
    const auto attend = [&](const torch::Tensor& y) {
        return self_attn->dropOutput(
            added("hook_attn_out", norm1_behind, self_attn->wo(self_attn->heads(y, y, y))));
    };
    const auto feed = [&](const torch::Tensor& y) {
        return added("hook_mlp_out", norm2_behind, ff_block(y));
    };
    x = m_parallel
            ? throughParallelBlock(hooks, x, norm1, norm2, m_dropout, attend, feed)
            : throughEncoderBlock(hooks, m_normFirst, x, norm1, norm2, m_dropout, attend, feed);
    if (auto* recorder = activeRecorder()) recorder->hidden(path, x);
    return x;
}

}  // namespace relascope::core
