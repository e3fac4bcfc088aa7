// SPDX-License-Identifier: GPL-3.0-or-later
// The ablations of relational attention: cross-attention to symbols, plain and disentangled.
#include "model/attention/cuda_attention.h"
#include "model/attention/cuda_dual_attention.h"
#include "model/attention/inner_scale.h"
#include "model/attention/relational_attention.h"
#include "model/blocks/layers.h"
#include "model/decode/cache.h"

namespace relascope::core {

RelationalCrossAttentionImpl::RelationalCrossAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq = register_module("wq", Linear(o.d_model, o.n_heads * o.head_dim, false));
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

torch::Tensor RelationalCrossAttentionImpl::forward(const torch::Tensor& x,
                                                    const Symbols& symbols) {
    const auto& o = m_options;
    if (const auto next = decoded(x, symbols); next.defined()) return finish(next);
    const auto call = kernelCall(x, symbols);
    const auto& [input, options] = call;
    const auto &q = input.q, &k = input.k;
    const ProjectedSymbols s{input.v, input.maxOffset};
    if (auto* recorder = factorRecorder())
        recorder->scores(path, {q, k, rsqrt(o.head_dim), o.rca_activation, o.causal});
    // With a softmax these are sensory heads with symbols as values.
    const bool sensory = o.rca_activation == "softmax" && !recordsMaps();
    if (sensory)
        if (const auto out = byKernels(input, options); out.defined()) return out;
    if (sensory && s.maxOffset < 0 && weightDropout() == 0 && x.size(1) > 32 &&
        form != AttentionForm::Chunked && form != AttentionForm::Explicit &&
        hasFusedKernel(q, k, s.values, o)) {
        m_lastForm = attentionFormName(AttentionForm::Fused);
        return finish(joinHeads(fusedAttention(q, k, s.values, o)));
    }
    m_lastForm = attentionFormName(formFor(x));
    const auto attend = [this](const auto& queries, const auto& keys,
                               const ProjectedSymbols& symbols, std::int64_t first,
                               const auto& drop) -> std::vector<torch::Tensor> {
        const auto& o = m_options;
        torch::Tensor weights;  // [b, h, n, m]
        if (o.rca_activation == "softmax") {
            weights = attentionWeights(queries[0], keys[0], o, first);
        } else {
            const auto shared = keys[0].repeat_interleave(o.n_heads / o.kvHeads(), 1);
            const auto inner =
                torch::matmul(queries[0] * rsqrt(o.head_dim), shared.transpose(2, 3));
            weights = applyActivation(o.rca_activation, inner);
            if (o.causal) weights = weights.tril(first);
        }
        if (recordsMaps()) activeRecorder()->scores(path, weights);
        return {mixSymbols(drop(weights), symbols, first)};
    };
    const auto a = overRows({q}, {k}, s, formFor(x) == AttentionForm::Chunked, false, attend);
    return finish(joinHeads(a[0]));
}

DisentangledCrossAttentionImpl::DisentangledCrossAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq_attn = register_module("wq_attn", Linear(o.d_model, o.n_heads * o.head_dim, false));
    wk_attn =
        register_module("wk_attn", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
    wq_rel = register_module("wq_rel", Linear(o.d_model, o.n_heads * o.head_dim, false));
    wk_rel = register_module("wk_rel", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
}

torch::Tensor DisentangledCrossAttentionImpl::forward(const torch::Tensor& x,
                                                      const Symbols& symbols) {
    const auto& o = m_options;
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    auto q = splitHeads(wq_attn(x), o.n_heads), k = splitHeads(wk_attn(x), o.kvHeads());
    if (o.rope) q = m_rotary.rotate(q, past), k = m_rotary.rotate(k, past);
    const auto q_rel = splitHeads(wq_rel(x), o.n_heads);
    auto k_rel = splitHeads(wk_rel(x), o.kvHeads());
    const auto s = project(symbols, x);
    if (cache) k = cache->append(this, 1, k), k_rel = cache->append(this, 2, k_rel);
    if (auto* recorder = factorRecorder()) {
        recorder->scores(path, {q, k, rsqrt(o.head_dim), "softmax", o.causal});
        recorder->relations(path, {q_rel, k_rel, rsqrt(o.head_dim), o.rel_activation});
    }
    m_lastForm = attentionFormName(formFor(x));
    const auto attend = [this](const auto& queries, const auto& keys,
                               const ProjectedSymbols& symbols, std::int64_t first,
                               const auto& drop) -> std::vector<torch::Tensor> {
        const auto& o = m_options;
        const auto alpha = attentionWeights(queries[0], keys[0], o, first);  // [b, h, n, m]
        const auto shared = keys[1].repeat_interleave(o.n_heads / o.kvHeads(), 1);
        const auto r =
            applyActivation(o.rel_activation,
                            torch::matmul(queries[1] * rsqrt(o.head_dim), shared.transpose(2, 3)));
        if (recordsMaps()) {
            activeRecorder()->scores(path, alpha);
            activeRecorder()->relations(path, r);
        }
        return {mixSymbols(drop(alpha * r), symbols, first)};
    };
    const auto a = overRows({q, q_rel}, {k, k_rel}, s, formFor(x) == AttentionForm::Chunked,
                            o.rel_activation == "softmax", attend);
    return finish(joinHeads(a[0]));
}

}  // namespace relascope::core
