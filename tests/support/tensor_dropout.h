// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels for tensor cores and the float32 ones with dropout: given the same random numbers,
// they drop the same weights.
#pragma once

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include <string>

#include "model/attention/cuda_attention.h"
#include "support/form_results.h"

namespace relascope::core {

/// Compares at those sizes of the published models that the device supports, which must be at least
/// one.
inline void expectSameDropout(const torch::Device& device, std::int64_t n) {
    const KernelOptions options{0.125, true, 0.1, 0.35};
    int compared = 0;
    for (const std::int64_t groups : {1, 2})
        for (const auto type : {torch::kBFloat16, torch::kHalf}) {
            torch::manual_seed(3);
            const Tensors in = {torch::randn({2, 8 * groups, n, 64}),
                                torch::randn({2, 4 * groups, n, 64}),
                                torch::randn({2, 4 * groups, n, 64}),
                                torch::randn({2, 64 * groups, n, 8}),
                                torch::randn({2, 64 * groups, n, 8}),
                                0.1 * torch::randn({8 * groups, 64, 64 * groups})};
            const auto run = [&](CudaKernels kernels) {
                Tensors x;
                for (const auto& each : in)
                    x.push_back(each.to(type).to(device).requires_grad_(true));
                const CudaAttentionInput call{x[0], x[1], x[2], -1, {x[3], x[4], x[5]}};
                if (servingCuda(call, options) != CudaKernels::Tensor) return Tensors();
                torch::manual_seed(7);
                const auto out = cudaAttention(call, options, kernels).to(torch::kFloat);
                auto all = torch::autograd::grad({(out * out.detach().cos()).sum()}, x);
                all.push_back(out.detach());
                return all;
            };
            const auto expected = run(CudaKernels::Float32), found = run(CudaKernels::Tensor);
            compared += !found.empty();
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
