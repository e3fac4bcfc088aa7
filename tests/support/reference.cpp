// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/reference.h"

#include <torch/utils.h>

#include "support/rooms.h"

#include <cmath>
#include <vector>

namespace relascope::reference {
namespace {

using Accessor = torch::TensorAccessor<double, 2>;

torch::Tensor project(const torch::Tensor& x, const Linear& linear) {
    const auto w = linear->weight, rows = torch::zeros({x.size(0), w.size(0)}, torch::kDouble);
    auto out = rows.accessor<double, 2>();
    const auto in = x.accessor<double, 2>(), weight = w.accessor<double, 2>();
    for (std::int64_t i = 0; i < x.size(0); ++i)
        for (std::int64_t o = 0; o < w.size(0); ++o) {
            double sum = linear->bias.defined() ? linear->bias[o].item<double>() : 0.0;
            for (std::int64_t d = 0; d < x.size(1); ++d) sum += in[i][d] * weight[o][d];
            out[i][o] = sum;
        }
    return rows;
}

double activation(const std::string& name, double v) {
    if (name == "relu") return v > 0 ? v : 0;
    if (name == "sigmoid") return 1 / (1 + std::exp(-v));
    if (name == "tanh") return std::tanh(v);
    if (name == "silu") return v / (1 + std::exp(-v));
    if (name == "gelu")
        return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    return v;
}

// Activates a matrix in place; softmax over each row.
void activate(const std::string& name, std::vector<std::vector<double>>& m) {
    for (auto& row : m) {
        if (name == "softmax") {
            double sum = 0;
            for (auto& v : row) sum += v = std::exp(v);
            for (auto& v : row) v /= sum;
        } else {
            for (auto& v : row) v = activation(name, v);
        }
    }
}

std::vector<std::vector<double>> innerProducts(const torch::Tensor& q, const torch::Tensor& k,
                                               std::int64_t qOffset, std::int64_t kOffset,
                                               std::int64_t width, double scale) {
    const auto a = q.accessor<double, 2>(), b = k.accessor<double, 2>();
    std::vector<std::vector<double>> m(static_cast<std::size_t>(q.size(0)),
                                       std::vector<double>(static_cast<std::size_t>(k.size(0))));
    for (std::size_t i = 0; i < m.size(); ++i)
        for (std::size_t j = 0; j < m[i].size(); ++j)
            for (std::int64_t d = 0; d < width; ++d)
                m[i][j] += a[static_cast<std::int64_t>(i)][qOffset + d] *
                           b[static_cast<std::int64_t>(j)][kOffset + d] * scale;
    return m;
}

// out[i] += w_ij (s_j W_s^h), s_ij when the symbols are relative.
void addSymbols(torch::Tensor& heads, const torch::Tensor& weights, const torch::Tensor& symbols,
                const Linear& wv, std::int64_t h, std::int64_t kvHead, std::int64_t width) {
    const std::int64_t n = heads.size(0);
    const bool relative = symbols.dim() == 3;
    const auto projected = relative ? torch::Tensor() : project(symbols, wv);
    for (std::int64_t i = 0; i < n; ++i) {
        const auto rows = relative ? project(symbols[i].contiguous(), wv) : projected;
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t d = 0; d < width; ++d)
                heads[i][h * width + d] +=
                    weights[i][j].item<double>() * rows[j][kvHead * width + d].item<double>();
    }
}

torch::Tensor toTensor(const std::vector<std::vector<double>>& m) {
    auto t =
        torch::zeros({static_cast<std::int64_t>(m.size()), static_cast<std::int64_t>(m[0].size())},
                     torch::kDouble);
    for (std::size_t i = 0; i < m.size(); ++i)
        for (std::size_t j = 0; j < m[i].size(); ++j)
            t[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)] = m[i][j];
    return t;
}

}  // namespace

torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, std::int64_t heads,
                        std::int64_t kvHeads, std::int64_t headDim, bool causal) {
    const std::int64_t n = q.size(0), key = q.size(1) / heads;
    auto all = torch::zeros({heads, n, n}, torch::kDouble);
    for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t kv = h / (heads / kvHeads);
        const auto scores = innerProducts(q, k, h * key, kv * key, key,
                                          1 / std::sqrt(static_cast<double>(headDim)));
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t last = causal ? i : n - 1;
            double sum = 0;
            for (std::int64_t j = 0; j <= last; ++j)
                sum += std::exp(scores[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
            for (std::int64_t j = 0; j <= last; ++j)
                all[h][i][j] =
                    std::exp(scores[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]) /
                    sum;
        }
    }
    return all;
}

torch::Tensor relational(RelationalAttentionImpl& m, const RelationalOptions& o,
                         const torch::Tensor& x, const torch::Tensor& symbols) {
    const torch::NoGradGuard noGrad;
    const std::int64_t n = x.size(0), w = o.head_dim, p = o.projDim(), l = o.relations();
    const auto alpha = attention(project(x, m.wq_attn), project(x, m.wk_attn), o.n_heads,
                                 o.kvHeads(), w, o.causal);
    const auto q = project(x, m.wq_rel), k = project(x, o.symmetric_rels ? m.wq_rel : m.wk_rel);
    std::vector<torch::Tensor> r;
    for (std::int64_t rel = 0; rel < l; ++rel) {
        auto matrix =
            innerProducts(q, k, rel * p, rel * p, p, 1 / std::sqrt(static_cast<double>(p)));
        activate(o.rel_activation, matrix);
        r.push_back(toTensor(matrix));
    }
    auto heads = torch::zeros({n, o.n_heads * w}, torch::kDouble);
    for (std::int64_t h = 0; h < o.n_heads; ++h) {
        addSymbols(heads, alpha[h], symbols, m.wv, h, h / (o.n_heads / o.kvHeads()), w);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t rel = 0; rel < l; ++rel) {
                double sum = 0;
                for (std::int64_t j = 0; j < n; ++j)
                    sum += alpha[h][i][j].item<double>() *
                           r[static_cast<std::size_t>(rel)][i][j].item<double>();
                for (std::int64_t d = 0; d < w; ++d)
                    heads[i][h * w + d] += m.wr[h][d][rel].item<double>() * sum;
            }
    }
    return project(heads, m.wo);
}

torch::Tensor cross(RelationalCrossAttentionImpl& m, const RelationalOptions& o,
                    const torch::Tensor& x, const torch::Tensor& symbols) {
    const torch::NoGradGuard noGrad;
    const auto q = project(x, m.wq), k = project(x, m.wk);
    auto heads = torch::zeros({x.size(0), o.width()}, torch::kDouble);
    for (std::int64_t h = 0; h < o.n_heads; ++h) {
        const std::int64_t kv = h / (o.n_heads / o.kvHeads());
        auto matrix = innerProducts(q, k, h * o.head_dim, kv * o.head_dim, o.head_dim,
                                    1 / std::sqrt(static_cast<double>(o.head_dim)));
        activate(o.rca_activation, matrix);
        addSymbols(heads, toTensor(matrix), symbols, m.wv, h, kv, o.head_dim);
    }
    return project(heads, m.wo);
}

torch::Tensor disentangled(DisentangledCrossAttentionImpl& m, const RelationalOptions& o,
                           const torch::Tensor& x, const torch::Tensor& symbols) {
    const torch::NoGradGuard noGrad;
    const auto alpha = attention(project(x, m.wq_attn), project(x, m.wk_attn), o.n_heads,
                                 o.kvHeads(), o.head_dim, o.causal);
    const auto q = project(x, m.wq_rel), k = project(x, m.wk_rel);
    auto heads = torch::zeros({x.size(0), o.width()}, torch::kDouble);
    for (std::int64_t h = 0; h < o.n_heads; ++h) {
        const std::int64_t kv = h / (o.n_heads / o.kvHeads());
        auto matrix = innerProducts(q, k, h * o.head_dim, kv * o.head_dim, o.head_dim,
                                    1 / std::sqrt(static_cast<double>(o.head_dim)));
        activate(o.rel_activation, matrix);
        addSymbols(heads, toTensor(matrix) * alpha[h], symbols, m.wv, h, kv, o.head_dim);
    }
    return project(heads, m.wo);
}

torch::Tensor sensory(AttentionImpl& m, const HeadOptions& o, const torch::Tensor& x) {
    const torch::NoGradGuard noGrad;
    const auto alpha =
        attention(project(x, m.wq), project(x, m.wk), o.n_heads, o.kvHeads(), o.head_dim, o.causal);
    const auto v = project(x, m.wv);
    auto heads = torch::zeros({x.size(0), o.width()}, torch::kDouble);
    for (std::int64_t h = 0; h < o.n_heads; ++h) {
        const std::int64_t kv = h / (o.n_heads / o.kvHeads());
        for (std::int64_t i = 0; i < x.size(0); ++i)
            for (std::int64_t j = 0; j < x.size(0); ++j)
                for (std::int64_t d = 0; d < o.head_dim; ++d)
                    heads[i][h * o.head_dim + d] +=
                        alpha[h][i][j].item<double>() * v[j][kv * o.head_dim + d].item<double>();
    }
    return project(heads, m.wo);
}

}  // namespace relascope::reference
