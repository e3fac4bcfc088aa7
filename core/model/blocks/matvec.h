// SPDX-License-Identifier: GPL-3.0-or-later
// One row times a bfloat16 weight matrix, for generating with language models, where memory
// bandwidth is the limit.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Whether `rowTimesWeight` takes them: one row on the CPU, no gradients, contiguous float32 x and
/// bfloat16 weights of an even width. (In float32 the product of LibTorch is faster.)
bool isRowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

/// x [..., in] of one row, weight [out, in] -> [..., out], summed in float32.
torch::Tensor rowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace relascope::core
