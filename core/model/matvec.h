// One row times a weight matrix: what a language model does for each token it writes, as fast as
// the memory gives the weights.
#pragma once

#include <torch/types.h>

namespace relascope {

/// Whether `rowTimesWeight` takes them: one row on the CPU, no gradients, contiguous float32 x and
/// float32 or bfloat16 weights.
bool isRowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

/// x [..., in] of one row, weight [out, in] -> [..., out], summed in float32.
torch::Tensor rowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace relascope
