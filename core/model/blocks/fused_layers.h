// SPDX-License-Identifier: GPL-3.0-or-later
// Activations in one pass each way. LibTorch's GELU spends most of its time in a tanh that is exact
// to the last bit, and silu(a) * b takes two passes forward and four backward.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Whether the forms below have a kernel for such an input: dense float32 or bfloat16 on the CPU,
/// large enough to pay for the longer call. The result has the type of the input.
bool hasFusedActivation(const torch::Tensor& x);

/// GELU with the tanh approximation.
torch::Tensor fusedGelu(const torch::Tensor& x);
/// silu(gate) * value; both of the same shape.
torch::Tensor fusedSwiglu(const torch::Tensor& gate, const torch::Tensor& value);

// Residual, dropout and norm in one pass each way, where LibTorch takes one for each and one more
// for every sum of two gradients.

/// Weight [d] and, for a layer norm, bias [d]: without one it is an RMS norm.
struct NormWeights {
    torch::Tensor weight, bias;
    double eps = 1e-5;
};
/// sum = x + dropout(branch), normed = norm(sum); both [..., d]. The sum is float32.
struct NormedSum {
    torch::Tensor sum, normed;
};

/// Whether there is a kernel for rows [..., d] like x: dense float32 on the CPU, d a multiple of
/// 16, and large enough to pay for the longer call.
bool hasFusedNorm(const torch::Tensor& x);

/// The sum of x and of the branch, float32 or bfloat16, with the mask of `dropout`, and its norm,
/// of the type `normed`: kFloat or kBFloat16. Without a branch the sum is x; to use it in place of
/// x lets the backward pass add its gradient to the norm's.
NormedSum fusedNormedSum(const torch::Tensor& x, const torch::Tensor& branch, double p,
                         const NormWeights& norm, torch::ScalarType normed = torch::kFloat);
/// x + dropout(branch), with the same mask.
torch::Tensor fusedSum(const torch::Tensor& x, const torch::Tensor& branch, double p);

// One row times a bfloat16 weight matrix, for generating with language models, where memory
// bandwidth is the limit.

/// Whether `rowTimesWeight` takes them: one row on the CPU, no gradients, contiguous float32 x and
/// bfloat16 weights of an even width. (In float32 the product of LibTorch is faster.)
bool isRowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

/// x [..., in] of one row, weight [out, in] -> [..., out], summed in float32.
torch::Tensor rowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace relascope::core
