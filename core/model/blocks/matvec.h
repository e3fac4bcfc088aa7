// SPDX-License-Identifier: GPL-3.0-or-later
// One row times a weight matrix kept in half width: what a language model does for each token it
// writes, as fast as the memory gives the weights.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Whether `rowTimesWeight` takes them: one row on the CPU, no gradients, contiguous float32 x and
/// bfloat16 weights of an even width. (In float32 LibTorch's own product is the quicker.)
bool isRowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

/// x [..., in] of one row, weight [out, in] -> [..., out], summed in float32.
torch::Tensor rowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace relascope::core
