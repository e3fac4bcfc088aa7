#include "options/estimates.h"

#include <algorithm>

namespace relascope {
namespace {

std::int64_t linear(std::int64_t in, std::int64_t out, bool bias) {
    return in * out + (bias ? out : 0);
}

std::int64_t norm(const ModelOptions& m) {
    return m.norm_type == "layernorm" ? 2 * m.d_model : m.norm_type == "rmsnorm" ? m.d_model : 0;
}

std::int64_t feedForward(const ModelOptions& m) {
    const std::int64_t d = m.d_model;
    const bool swiglu = m.activation == "swiglu";
    const std::int64_t dff =
        m.dff > 0 ? m.dff
        : swiglu  ? static_cast<std::int64_t>(2.0 / 3.0 * 4.0 * static_cast<double>(d))
                  : 4 * d;
    return linear(d, dff, m.bias) * (swiglu ? 2 : 1) + linear(dff, d, m.bias);
}

std::int64_t sensory(const ModelOptions& m) {
    if (m.n_heads_sa == 0) return 0;
    const std::int64_t w = m.headDim(), kv = m.sa_n_kv_heads > 0 ? m.sa_n_kv_heads : m.n_heads_sa;
    const std::int64_t key = m.sa_key_dim > 0 ? m.sa_key_dim : w, out = w * m.n_heads_sa;
    return linear(m.d_model, m.n_heads_sa * key, false) +
           linear(m.d_model, kv * key, m.sa_add_bias_kv) +
           linear(m.d_model, kv * w, m.sa_add_bias_kv) +
           linear(out, out, m.isDual() ? m.sa_add_bias_out : m.bias);
}

std::int64_t relational(const ModelOptions& m) {
    if (!m.isDual() || m.n_heads_ra == 0) return 0;
    const bool full = m.ra_type == "relational_attention";
    const std::int64_t w = m.headDim(), h = m.n_heads_ra,
                       kv = m.ra_n_kv_heads > 0 ? m.ra_n_kv_heads : h, out = w * h;
    const std::int64_t key = full && m.ra_key_dim > 0 ? m.ra_key_dim : w;
    std::int64_t count =
        linear(m.d_model, kv * w, m.ra_add_bias_kv) + linear(out, out, m.ra_add_bias_out);
    const std::int64_t attention =
        linear(m.d_model, h * key, false) + linear(m.d_model, kv * key, m.ra_add_bias_kv);
    count += attention;
    if (full)
        count += linear(m.d_model, out, false) * (m.symmetric_rels ? 1 : 2) + h * w * m.relations();
    if (m.ra_type == "disrca")
        count += linear(m.d_model, out, false) + linear(m.d_model, kv * w, m.ra_add_bias_kv);
    return count - (m.share_attn_params ? attention : 0);
}

std::int64_t symbols(const ModelOptions& m) {
    if (!m.isDual()) return 0;
    const std::int64_t d = m.d_model, library = linear(d, d, true) + 2 * m.n_symbols * d;
    if (m.symbol_retrieval == "positional_symbols")
        return (m.max_length > 0 ? m.max_length : m.tokens()) * d;
    if (m.symbol_retrieval == "position_relative")
        return (2 * (m.max_rel_pos > 0 ? m.max_rel_pos : m.tokens()) + 1) * d;
    if (m.symbol_retrieval == "symbolic_attention") return library;
    const std::int64_t count =
        (m.causal_nbhd ? m.nbhd_delta : 2 * m.nbhd_delta) + (m.include_self ? 1 : 0);
    return library + 2 * linear(d, d, true) + linear(count * m.rel_n_heads, d, true);
}

}  // namespace

std::int64_t parameterCount(const ModelOptions& m) {
    const std::int64_t d = m.d_model;
    const std::int64_t patches = 2 * m.patchDim() + linear(m.patchDim(), d, true) + 2 * d;
    const std::int64_t block = sensory(m) + relational(m) + feedForward(m) + 2 * norm(m);
    return patches + (m.tokens() + 1) * d + m.n_layers * block + symbols(m) +
           linear(d, m.num_classes, true);
}

std::uint64_t trainingBytes(const RunOptions& o) {
    const auto& m = o.model;
    const double tokens = static_cast<double>(o.train.batch_size) * static_cast<double>(m.tokens());
    const double dff = static_cast<double>(m.dff > 0 ? m.dff : 4 * m.d_model);
    const double block =
        tokens * (16.0 * static_cast<double>(m.d_model) + 4.0 * dff) +
        static_cast<double>(o.train.batch_size * m.tokens() * m.tokens()) *
            static_cast<double>(4 * m.heads() + (m.isDual() ? 2 * m.relations() : 0));
    const double activations =
        static_cast<double>(m.n_layers) * block + 4.0 * tokens * static_cast<double>(m.patchDim());
    return static_cast<std::uint64_t>(4.0 *
                                      (4.0 * static_cast<double>(parameterCount(m)) + activations));
}

std::int64_t stepsPerEpoch(const RunOptions& o) {
    return std::max<std::int64_t>(
        1, (o.data.train_size + o.train.batch_size - 1) / o.train.batch_size);
}

std::int64_t totalSteps(const RunOptions& o) {
    return o.train.steps > 0 ? o.train.steps : o.train.epochs * stepsPerEpoch(o);
}

double trainingFlops(const RunOptions& o) {
    const auto& m = o.model;
    const double tokens = static_cast<double>(o.train.batch_size * m.tokens());
    const double attention = 4.0 * static_cast<double>(m.n_layers * m.tokens() * m.d_model);
    return 3.0 * tokens * (2.0 * static_cast<double>(parameterCount(m)) + attention);
}

}  // namespace relascope
