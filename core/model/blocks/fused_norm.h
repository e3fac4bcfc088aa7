// SPDX-License-Identifier: GPL-3.0-or-later
// Residual, dropout and norm in one pass each way, where LibTorch takes one for each and one more
// for every sum of two gradients.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Weight [d] and, for a layer norm, bias [d]: without one it is an RMS norm.
struct NormWeights {
    torch::Tensor weight, bias;
    double eps = 1e-5;
};
/// sum = x + dropout(branch), normed = norm(sum); both [..., d].
struct NormedSum {
    torch::Tensor sum, normed;
};

/// Whether there is a kernel for rows [..., d] like x: dense float32 on the CPU without autocast, d
/// a multiple of 16, and large enough to pay for the longer call.
bool hasFusedNorm(const torch::Tensor& x);

/// The sum of x and of the branch, with the mask of `dropout`, and its norm. Without a branch the
/// sum is x; to use it in place of x lets the backward pass add its gradient to the norm's.
NormedSum fusedNormedSum(const torch::Tensor& x, const torch::Tensor& branch, double p,
                         const NormWeights& norm);
/// x + dropout(branch), with the same mask.
torch::Tensor fusedSum(const torch::Tensor& x, const torch::Tensor& branch, double p);

}  // namespace relascope::core
