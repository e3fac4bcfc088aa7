// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels for tensor cores with dropout: the factors that their forward pass shows, and whether
// both passes use these.
#pragma once

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include <cmath>
#include <string>

#include "model/attention/cuda_attention.h"
#include "support/form_results.h"

namespace relascope::core {

/// Numbers for q, k, v, q_rel, k_rel and W_r at a published size: that of 343 million parameters,
/// or with 2 groups of heads that of 1.27 billion.
inline Tensors publishedInputs(std::int64_t n, std::int64_t batch = 1, std::int64_t groups = 1) {
    torch::manual_seed(3);
    return {torch::randn({batch, 8 * groups, n, 64}),
            torch::randn({batch, 4 * groups, n, 64}),
            torch::randn({batch, 4 * groups, n, 64}),
            torch::randn({batch, 64 * groups, n, 8}),
            torch::randn({batch, 64 * groups, n, 8}),
            0.1 * torch::randn({8 * groups, 64, 64 * groups})};
}
inline CudaAttentionInput inputOf(const Tensors& x) {
    return {x[0], x[1], x[2], -1, {x[3], x[4], x[5]}};
}
inline const KernelOptions kPublished{0.125, true, 0.0, 0.35};

/// What the kernels compute, by matrices in the type of the inputs or of autocast. `keep`
/// [b, h, n, m]: factors of the weights, those of dropout.
inline torch::Tensor byMatrices(const CudaAttentionInput& in, const KernelOptions& o,
                                const torch::Tensor& keep) {
    const auto shared = [](const torch::Tensor& x) { return x.repeat_interleave(2, 1); };
    const auto scores = torch::matmul(in.q * o.scale, shared(in.k).transpose(2, 3));
    const auto hidden = futureMask(in.q.size(2), in.k.size(2), 0, in.q.device());
    const auto alpha = torch::softmax(scores.masked_fill(hidden, -INFINITY), -1);
    const auto a = alpha * keep.to(alpha.scalar_type());
    const auto r = torch::matmul(in.relations.q * o.relScale, in.relations.k.transpose(2, 3));
    const auto related = torch::matmul(a.transpose(1, 2), r.permute({0, 2, 3, 1})).transpose(1, 2);
    return joinHeads(torch::matmul(related, in.relations.wr.transpose(1, 2)) +
                     torch::matmul(a, shared(in.v)));
}

/// The factors [batch, 8 groups, n, n] of dropout of the weights after torch::manual_seed(7): of
/// equal weights, mixed with symbols that single out one key each, of 64 at most at a time.
inline torch::Tensor dropoutFactors(const torch::Device& device, double p, std::int64_t n,
                                    std::int64_t batch = 1, std::int64_t groups = 1) {
    const torch::NoGradGuard guard;
    auto in = publishedInputs(n, batch, groups);
    for (auto& x : in) x = x.to(torch::kBFloat16).to(device);
    in[0].zero_(), in[5].zero_();
    Tensors parts;
    for (std::int64_t first = 0; first < n; first += 64) {
        const auto count = std::min<std::int64_t>(64, n - first);
        in[2].zero_();
        in[2]
            .slice(2, first, first + count)
            .slice(3, 0, count)
            .copy_(torch::eye(count, in[2].options()).expand({batch, 4 * groups, count, count}));
        torch::manual_seed(7);
        const KernelOptions options{0.125, false, p, 0.35};
        parts.push_back(
            splitHeads(cudaAttention(inputOf(in), options), 8 * groups).slice(3, 0, count));
    }
    const double kept = 65536.0 - static_cast<double>(std::lround(65536.0 * p));
    return torch::cat(parts, 3).gt(0).to(torch::kDouble) * (65536.0 / kept);
}

/// Compares the kernels with matrices that have these factors, at those sizes of the published
/// models that the device supports, which must be at least one.
inline void expectSameDropout(const torch::Device& device, std::int64_t n) {
    KernelOptions options = kPublished;
    options.dropout = 0.1;
    int compared = 0;
    for (const std::int64_t groups : {1, 2})
        for (const auto type : {torch::kBFloat16, torch::kHalf}) {
            const auto in = publishedInputs(n, 2, groups);
            const auto run = [&](torch::ScalarType computed, const auto& attention) {
                Tensors x;
                for (const auto& each : in)
                    x.push_back(each.to(type).to(device).to(computed).requires_grad_(true));
                torch::manual_seed(7);
                const auto out = attention(inputOf(x)).to(torch::kFloat);
                auto all = torch::autograd::grad({(out * out.detach().cos()).sum()}, x);
                all.push_back(out.detach());
                return all;
            };
            Tensors narrow;
            for (const auto& each : in) narrow.push_back(each.to(type).to(device));
            if (!servesCuda(inputOf(narrow), options)) continue;
            const auto keep = dropoutFactors(device, options.dropout, n, 2, groups);
            const auto expected =
                run(torch::kFloat, [&](const auto& x) { return byMatrices(x, options, keep); });
            const auto found = run(type, [&](const auto& x) { return cudaAttention(x, options); });
            ++compared;
            for (std::size_t i = 0; i < found.size(); ++i) {
                const auto difference =
                    found[i].to(torch::kDouble) - expected[i].to(torch::kDouble);
                EXPECT_LT(difference.norm().item<double>(),
                          0.03 * expected[i].to(torch::kDouble).norm().item<double>())
                    << torch::toString(type) << ", " << groups << " groups, tensor " << i;
            }
        }
    EXPECT_GT(compared, 0);
}

}  // namespace relascope::core
