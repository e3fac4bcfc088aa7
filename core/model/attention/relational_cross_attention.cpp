// SPDX-License-Identifier: GPL-3.0-or-later
// The variants of relational attention: cross-attention to symbols, plain and disentangled.
#include "model/attention/cuda_attention.h"
#include "model/attention/inner_scale.h"
#include "model/attention/relational_attention.h"
#include "model/blocks/layers.h"
#include "model/blocks/module_span.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"

namespace relascope::core {

RelationalCrossAttentionImpl::RelationalCrossAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq = register_module("wq", Linear(o.d_model, o.n_heads * o.head_dim, o.add_bias_q));
    wk = register_module("wk", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
}

std::optional<KernelHeads> RelationalCrossAttentionImpl::kernelHeads(const Symbols& symbols) const {
    if (m_options.rca_activation != "softmax") return std::nullopt;
    return sizes(symbols, m_options.head_dim);
}

KernelCall RelationalCrossAttentionImpl::projections(const torch::Tensor& x,
                                                     const Symbols& symbols) {
    const auto& o = m_options;
    const auto s = projected(symbols, x);
    return {{splitHeads(wq(x), o.n_heads),
             splitHeads(wk(x), o.kvHeads()),
             s.values,
             s.maxOffset,
             {},
             0},
            {rsqrt(o.head_dim), o.causal, weightDropout()}};
}

torch::Tensor RelationalCrossAttentionImpl::heads(const torch::Tensor& x, const Symbols& symbols) {
    const ModuleSpan span(*this);
    const auto& o = m_options;
    if (const auto next = decoded(x, symbols); next.defined()) return next;
    const auto call = kernelCall(x, symbols);
    const auto& [input, options] = call;
    const auto &q = input.q, &k = input.k;
    const ProjectedSymbols s{input.v, input.maxOffset};
    const HookedModule hooks(hook, input.first);
    const auto documents = this->documents();
    // Maps that documents have closed are no products of the factors.
    const bool takesMaps = takesWeights(hooks) || (activeRecorder() && documents);
    const auto joined = [&](const torch::Tensor& h) {
        return hookedJoined(hooks, "hook_z", h, o.n_heads);
    };
    if (auto* recorder = factorRecorder(); recorder && !takesMaps)
        recorder->scores(path, {q, k, rsqrt(o.head_dim), o.rca_activation, o.causal});
    // With a softmax these are sensory heads with symbols as values.
    const bool sensory = o.rca_activation == "softmax" && !recordsMaps() && !takesMaps;
    if (sensory)
        if (const auto out = byKernels(input, options); out.defined()) return joined(out);
    if (sensory && s.maxOffset < 0 && weightDropout() == 0 && x.size(1) > 32 &&
        form != AttentionForm::Chunked && form != AttentionForm::Explicit &&
        hasFusedKernel(q, k, s.values, o, documents)) {
        m_lastForm = attentionFormName(AttentionForm::Fused);
        return joined(joinHeads(fusedAttention(q, k, s.values, o, documents)));
    }
    m_lastForm = attentionFormName(formFor(x));
    const bool records = recordsMaps() || (activeRecorder() && takesMaps);
    const auto attend = [this, hooks, takesMaps, records, documents](
                            const auto& queries, const auto& keys, const ProjectedSymbols& symbols,
                            std::int64_t first, const auto& drop) -> std::vector<torch::Tensor> {
        const auto& o = m_options;
        torch::Tensor weights;  // [b, h, n, m]
        if (o.rca_activation == "softmax") {
            weights = takesMaps
                          ? hookedWeights(hooks, queries[0], keys[0], o, first, documents).alpha
                          : attentionWeights(queries[0], keys[0], o, first, documents);
        } else {
            const auto shared = keys[0].repeat_interleave(o.n_heads / o.kvHeads(), 1);
            const auto inner = hooks.cells(
                "hook_attn_scores", axes::pattern,
                torch::matmul(queries[0] * rsqrt(o.head_dim), shared.transpose(2, 3)), first);
            weights = takesMaps ? activateOpen(o.rca_activation, inner)
                                : applyActivation(o.rca_activation, inner);
            torch::Tensor closed;
            if (o.causal && (documents || takesMaps))
                closed = closedCells(weights.size(2), weights.size(3), first, weights.device(), 0,
                                     documents);
            if (documents)
                weights = weights.masked_fill(closed, 0.0);
            else if (o.causal)
                weights = weights.tril(first);
            if (takesMaps)
                weights = hooks.cells("hook_pattern", axes::pattern, weights, first, closed);
        }
        if (records) activeRecorder()->scores(path, weights);
        return {mixSymbols(drop(weights), symbols, first)};
    };
    const bool blocks =
        formFor(x) == AttentionForm::Chunked && (!takesMaps || (is_training() && !records));
    const auto a = overRows({q}, {k}, s, blocks, false, attend);
    return joined(joinHeads(a[0]));
}

DisentangledCrossAttentionImpl::DisentangledCrossAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq_attn = register_module("wq_attn", Linear(o.d_model, o.n_heads * o.head_dim, o.add_bias_q));
    wk_attn =
        register_module("wk_attn", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
    wq_rel = register_module("wq_rel", Linear(o.d_model, o.n_heads * o.head_dim, false));
    wk_rel = register_module(
        "wk_rel", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv && o.rel_add_bias));
}

torch::Tensor DisentangledCrossAttentionImpl::heads(const torch::Tensor& x,
                                                    const Symbols& symbols) {
    const ModuleSpan span(*this);
    const auto& o = m_options;
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    const HookedModule hooks(hook, past);
    const auto point = [&](const char* name, const torch::Tensor& heads) {
        return hookedHeads(hooks, name, axes::heads, heads);
    };
    auto q = point("hook_q", splitHeads(wq_attn(x), o.n_heads)),
         k = point("hook_k", splitHeads(wk_attn(x), o.kvHeads()));
    if (o.rope) {
        q = point("hook_rot_q", m_rotary.rotate(q, past));
        k = point("hook_rot_k", m_rotary.rotate(k, past));
    }
    const auto q_rel =
        hookedHeads(hooks, "hook_rel_q", axes::relationVectors, splitHeads(wq_rel(x), o.n_heads));
    auto k_rel =
        hookedHeads(hooks, "hook_rel_k", axes::relationVectors, splitHeads(wk_rel(x), o.kvHeads()));
    const auto s = project(symbols, x);
    if (cache) k = cache->append(this, 1, k), k_rel = cache->append(this, 2, k_rel);
    const auto documents = this->documents();
    const bool takesMaps = takesWeights(hooks) || hooks.takes("hook_rel_scores") ||
                           hooks.takes("hook_r") || (activeRecorder() && documents);
    if (auto* recorder = factorRecorder(); recorder && !takesMaps) {
        recorder->scores(path, {q, k, rsqrt(o.head_dim), "softmax", o.causal});
        recorder->relations(path, {q_rel, k_rel, rsqrt(o.head_dim), o.rel_activation,
                                   o.causal && o.masked_relations});
    }
    m_lastForm = attentionFormName(formFor(x));
    const bool records = recordsMaps() || (activeRecorder() && takesMaps);
    const bool softmax = o.rel_activation == "softmax";
    const auto attend = [this, hooks, takesMaps, records, softmax, documents](
                            const auto& queries, const auto& keys, const ProjectedSymbols& symbols,
                            std::int64_t first, const auto& drop) -> std::vector<torch::Tensor> {
        const auto& o = m_options;
        const auto alpha =
            takesMaps  // [b, h, n, m]
                ? hookedWeights(hooks, queries[0], keys[0], o, first, documents).alpha
                : attentionWeights(queries[0], keys[0], o, first, documents);
        const auto shared = keys[1].repeat_interleave(o.n_heads / o.kvHeads(), 1);
        const auto inner = torch::matmul(queries[1] * rsqrt(o.head_dim), shared.transpose(2, 3));
        torch::Tensor closed;
        if (softmax || takesMaps || records)
            closed =
                closedRelations(inner.size(2), inner.size(3), first, inner.device(), documents);
        const auto r = hookedRelationMaps(takesMaps ? hooks : HookedModule(), o.rel_activation,
                                          inner, first, closed);
        if (records) {
            activeRecorder()->scores(path, alpha);
            // A recorder of factors has the relations of all models in the same order.
            activeRecorder()->relations(
                path, activeRecorder()->takesFactors() ? r.permute({0, 2, 3, 1}) : r);
        }
        return {mixSymbols(drop(alpha * r), symbols, first)};
    };
    const bool blocks =
        formFor(x) == AttentionForm::Chunked && (!takesMaps || (is_training() && !records));
    const auto a =
        overRows({q, q_rel}, {k, k_rel}, s, blocks, softmax && !o.masked_relations, attend);
    return hookedJoined(hooks, "hook_z", joinHeads(a[0]), o.n_heads);
}

}  // namespace relascope::core
