#include "model/attention.h"

#include <cmath>

#include "model/layers.h"
#include "types/error.h"

namespace relascope {
void HeadOptions::check() const {
    const auto text = [](std::int64_t n) { return std::to_string(n); };
    if (n_heads < 1)
        throw OptionError("n_heads", text(n_heads) + " heads cannot attend; give at least one");
    if (head_dim < 1) throw OptionError("d_model", text(d_model) + " leaves no width for a head");
    if (n_heads % kvHeads() != 0)
        throw OptionError("n_kv_heads",
                          text(kvHeads()) + " does not divide the " + text(n_heads) + " heads");
    if (rope && keyDim() % 2 != 0)
        throw OptionError("key_dim", "rotary positions need an even width, not " + text(keyDim()));
}

torch::Tensor splitHeads(const torch::Tensor& x, std::int64_t heads) {
    return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}
torch::Tensor joinHeads(const torch::Tensor& x) {
    return x.transpose(1, 2).flatten(2);
}

torch::Tensor attentionWeights(const torch::Tensor& q, const torch::Tensor& k,
                               const HeadOptions& options) {
    const std::int64_t b = q.size(0), h = q.size(1), n = q.size(2), kv = k.size(1), m = k.size(2);
    const double scale = 1.0 / std::sqrt(static_cast<double>(options.head_dim));
    // The query heads that share a key head are stacked as rows of one product.
    auto scores =
        torch::matmul(q.reshape({b, kv, h / kv * n, q.size(3)}), (k * scale).transpose(2, 3))
            .view({b, h, n, m});
    if (options.causal) {
        const auto future = torch::ones({n, m}, scores.options().dtype(torch::kBool)).triu(1);
        scores = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
    }
    return torch::softmax(scores, -1);
}

torch::Tensor mixValues(const torch::Tensor& alpha, const torch::Tensor& values) {
    const std::int64_t b = alpha.size(0), h = alpha.size(1), n = alpha.size(2), kv = values.size(1);
    return torch::matmul(alpha.reshape({b, kv, h / kv * n, alpha.size(3)}), values)
        .view({b, h, n, values.size(3)});
}

namespace {

// <q_i, k_j> / sqrt(head_dim) of every head: [b, n, m, h].
torch::Tensor innerProducts(const torch::Tensor& q, const torch::Tensor& k, const HeadOptions& o) {
    const auto keys = k.repeat_interleave(o.n_heads / o.kvHeads(), 1);
    return (torch::matmul(q, keys.transpose(2, 3)) / std::sqrt(static_cast<double>(o.head_dim)))
        .permute({0, 2, 3, 1});
}

}  // namespace

AttentionImpl::AttentionImpl(const HeadOptions& options) : m_options(options) {
    options.check();
    const auto& o = options;
    wq = register_module("wq", Linear(o.d_model, o.n_heads * o.keyDim(), false));
    wk = register_module("wk", Linear(o.d_model, o.kvHeads() * o.keyDim(), o.add_bias_kv));
    wv = register_module("wv", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
    wo = register_module("wo", Linear(o.width(), o.width(), o.add_bias_out));
    m_weightDropout = register_module("attn_dropout", Dropout(o.dropout));
    m_outputDropout = register_module("resid_dropout", Dropout(o.outputDropout()));
}

torch::Tensor AttentionImpl::forward(const torch::Tensor& query, const torch::Tensor& key,
                                     const torch::Tensor& value) {
    auto q = splitHeads(wq(query), m_options.n_heads);          // [b, h, n, key_dim]
    auto k = splitHeads(wk(key), m_options.kvHeads());          // [b, h_kv, m, key_dim]
    const auto v = splitHeads(wv(value), m_options.kvHeads());  // [b, h_kv, m, d_h]
    if (m_options.rope) q = rotate(q), k = rotate(k);

    const auto alpha = attentionWeights(q, k, m_options);  // [b, h, n, m]
    if (auto* recorder = activeRecorder()) {
        recorder->scores(path, alpha);
        if (m_options.relational) recorder->relations(path, innerProducts(q, k, m_options));
    }
    const auto e = mixValues(m_weightDropout(alpha), v);  // [b, h, n, d_h]
    return m_outputDropout(wo(joinHeads(e)));             // [b, n, h * d_h]
}

}  // namespace relascope
