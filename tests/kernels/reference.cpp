// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace relascope::core::kernels {
namespace {

/// All n x m numbers of one batch element and head.
struct Weights {
    std::vector<double> alpha, kept;  // without and with dropout
    std::vector<double> lse;
};

int keyHeadOf(const Problem& p, int head) {
    return head * p.keyHeads / p.heads;
}

int symbolOf(const Problem& p, int i, int j) {
    if (p.maxOffset < 0) return j;
    return std::clamp(j - i - p.first, -p.maxOffset, p.maxOffset) + p.maxOffset;
}

Weights weightsOf(const Problem& p, const Inputs& in, const std::vector<double>& mask, int b,
                  int head) {
    Weights w;
    for (int i = 0; i < p.queries; ++i) {
        std::vector<double> scores(p.keys, -std::numeric_limits<double>::infinity());
        for (int j = 0; j < p.keys; ++j) {
            if (p.causal && j > i + p.first) continue;
            double sum = 0;
            for (int c = 0; c < p.keyDim; ++c)
                sum += in.q.at(b, i, head, c) * in.k.at(b, j, keyHeadOf(p, head), c);
            scores[j] = sum * p.scale();
        }
        const double most = *std::max_element(scores.begin(), scores.end());
        double total = 0;
        for (const double score : scores) total += std::exp(score - most);
        w.lse.push_back(most + std::log(total));
        for (int j = 0; j < p.keys; ++j) {
            const double alpha = std::exp(scores[j] - most) / total;
            w.alpha.push_back(alpha);
            w.kept.push_back(
                alpha * mask[((std::size_t(b) * p.heads + head) * p.queries + i) * p.keys + j]);
        }
    }
    return w;
}

double innerProduct(const Problem& p, const Inputs& in, int b, int i, int j, int l) {
    double sum = 0;
    for (int c = 0; c < p.relDim; ++c) sum += in.qRel.at(b, i, l, c) * in.kRel.at(b, j, l, c);
    return sum * p.relScale();
}

double sigmoid(double u) {
    return 1.0 / (1.0 + std::exp(-u));
}

double referenceSlope(const std::string& name, double u) {
    if (name == "identity") return 1.0;
    if (name == "relu") return u > 0 ? 1.0 : 0.0;
    if (name == "sigmoid") return sigmoid(u) * sigmoid(-u);
    if (name == "tanh") return 1.0 / (std::cosh(u) * std::cosh(u));
    if (name == "silu") return sigmoid(u) * (1.0 + u * sigmoid(-u));
    const double root = std::sqrt(2.0 / M_PI), v = root * (u + 0.044715 * u * u * u);
    return 0.5 * (1.0 + std::tanh(v)) +
           0.5 * u / (std::cosh(v) * std::cosh(v)) * root * (1.0 + 3.0 * 0.044715 * u * u);
}

}  // namespace

double Problem::scale() const {
    return 1.0 / std::sqrt(double(keyDim));
}
double Problem::relScale() const {
    return 1.0 / std::sqrt(double(std::max(relDim, 1)));
}

double referenceActivation(const std::string& name, double u) {
    if (name == "identity") return u;
    if (name == "relu") return std::max(u, 0.0);
    if (name == "sigmoid") return sigmoid(u);
    if (name == "tanh") return std::tanh(u);
    if (name == "silu") return u * sigmoid(u);
    if (name == "gelu")
        return 0.5 * u * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (u + 0.044715 * u * u * u)));
    throw std::invalid_argument(name);
}

Tensor4 randomTensor(int batch, int tokens, int heads, int width, std::uint64_t seed) {
    Tensor4 tensor(batch, tokens, heads, width);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (double& value : tensor.values) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        // As a float, so that both precisions compute from the same numbers.
        value = float(double(state >> 11) / double(std::uint64_t{1} << 52) - 1.0);
    }
    return tensor;
}

Inputs randomInputs(const Problem& p, std::uint64_t seed) {
    Inputs in{randomTensor(p.batch, p.queries, p.heads, p.keyDim, seed),
              randomTensor(p.batch, p.keys, p.keyHeads, p.keyDim, seed + 1),
              randomTensor(p.batch, p.symbols(), p.keyHeads, p.valueDim, seed + 2),
              randomTensor(p.batch, p.queries, p.relations, p.relDim, seed + 3),
              randomTensor(p.batch, p.keys, p.relations, p.relDim, seed + 4)};
    for (auto* tensor : {&in.q, &in.k, &in.qRel, &in.kRel})
        for (double& value : tensor->values) value *= 2.0;  // weights far from uniform
    return in;
}

std::vector<std::uint32_t> referencePhilox(std::vector<std::uint32_t> c,
                                           std::vector<std::uint32_t> k) {
    const std::uint64_t mask = 0xffffffffu;
    for (int round = 0; round < 10; ++round) {
        if (round > 0) {
            k[0] = std::uint32_t((k[0] + std::uint64_t{2654435769u}) & mask);  // golden ratio
            k[1] = std::uint32_t((k[1] + std::uint64_t{3144134277u}) & mask);  // sqrt(3) - 1
        }
        const std::uint64_t even = c[0] * std::uint64_t{3528531795u};
        const std::uint64_t odd = c[2] * std::uint64_t{3449720151u};
        c = {std::uint32_t(odd >> 32 ^ c[1] ^ k[0]), std::uint32_t(odd & mask),
             std::uint32_t(even >> 32 ^ c[3] ^ k[1]), std::uint32_t(even & mask)};
    }
    return c;
}

std::vector<double> referenceMask(const Problem& p) {
    std::vector<double> mask;
    const auto low = [](std::uint64_t x) { return std::uint32_t(x & 0xffffffffu); };
    const std::uint64_t rows = std::uint64_t(p.batch) * p.heads * p.queries;
    for (std::uint64_t row = 0; row < rows; ++row)
        for (int j = 0; j < p.keys; ++j) {
            const unsigned column = j / 32 * 4 + j / 2 % 4, half = j / 8 % 4 * 2 + j % 2;
            const auto words =
                referencePhilox({low(p.offset), low(p.offset >> 32), low(row), column},
                                {low(p.seed), low(p.seed >> 32) ^ low(row >> 32)});
            const unsigned bits = words[half / 2] >> (half % 2 * 16) & 0xffffu;
            mask.push_back(bits < p.dropThreshold ? 0.0 : 65536.0 / (65536.0 - p.dropThreshold));
        }
    return mask;
}

Outputs referenceForward(const Problem& p, const Inputs& in) {
    Outputs to{Tensor4(p.batch, p.queries, p.heads, p.valueDim),
               Tensor4(p.batch, p.queries, p.heads, p.relations),
               Tensor4(p.batch, p.queries, p.heads, 1)};
    const auto mask = referenceMask(p);
    for (int b = 0; b < p.batch; ++b) {
        for (int a = 0; a < p.heads; ++a) {
            const auto w = weightsOf(p, in, mask, b, a);
            for (int i = 0; i < p.queries; ++i) {
                to.lse.at(b, i, a, 0) = w.lse[i];
                for (int j = 0; j < p.keys; ++j) {
                    const double kept = w.kept[std::size_t(i) * p.keys + j];
                    for (int c = 0; c < p.valueDim; ++c)
                        to.out.at(b, i, a, c) +=
                            kept * in.s.at(b, symbolOf(p, i, j), keyHeadOf(p, a), c);
                    for (int l = 0; l < p.relations; ++l)
                        to.related.at(b, i, a, l) +=
                            kept *
                            referenceActivation(p.activation, innerProduct(p, in, b, i, j, l));
                }
            }
        }
    }
    return to;
}

Inputs referenceBackward(const Problem& p, const Inputs& in, const Tensor4& dOut,
                         const Tensor4& dRelated) {
    Inputs to = in;
    for (auto* tensor : {&to.q, &to.k, &to.s, &to.qRel, &to.kRel})
        std::fill(tensor->values.begin(), tensor->values.end(), 0.0);
    const auto mask = referenceMask(p);
    for (int b = 0; b < p.batch; ++b) {
        for (int a = 0; a < p.heads; ++a) {
            const int g = keyHeadOf(p, a);
            const auto w = weightsOf(p, in, mask, b, a);
            for (int i = 0; i < p.queries; ++i) {
                std::vector<double> dAlpha(p.keys);
                double mean = 0;  // sum_j alpha_j dAlpha_j, for the softmax
                for (int j = 0; j < p.keys; ++j) {
                    const std::size_t cell = std::size_t(i) * p.keys + j;
                    double dKept = 0;
                    for (int c = 0; c < p.valueDim; ++c) {
                        dKept += dOut.at(b, i, a, c) * in.s.at(b, symbolOf(p, i, j), g, c);
                        to.s.at(b, symbolOf(p, i, j), g, c) += w.kept[cell] * dOut.at(b, i, a, c);
                    }
                    for (int l = 0; l < p.relations; ++l) {
                        const double u = innerProduct(p, in, b, i, j, l);
                        dKept += dRelated.at(b, i, a, l) * referenceActivation(p.activation, u);
                        const double dProduct = p.relScale() * w.kept[cell] *
                                                dRelated.at(b, i, a, l) *
                                                referenceSlope(p.activation, u);
                        for (int c = 0; c < p.relDim; ++c) {
                            to.qRel.at(b, i, l, c) += dProduct * in.kRel.at(b, j, l, c);
                            to.kRel.at(b, j, l, c) += dProduct * in.qRel.at(b, i, l, c);
                        }
                    }
                    const std::size_t row = (std::size_t(b) * p.heads + a) * p.queries + i;
                    dAlpha[j] = dKept * mask[row * p.keys + j];
                    mean += w.alpha[cell] * dAlpha[j];
                }
                for (int j = 0; j < p.keys; ++j) {
                    const double dScore =
                        w.alpha[std::size_t(i) * p.keys + j] * (dAlpha[j] - mean) * p.scale();
                    for (int c = 0; c < p.keyDim; ++c) {
                        to.q.at(b, i, a, c) += dScore * in.k.at(b, j, g, c);
                        to.k.at(b, j, g, c) += dScore * in.q.at(b, i, a, c);
                    }
                }
            }
        }
    }
    return to;
}

}  // namespace relascope::core::kernels
