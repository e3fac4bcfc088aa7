// SPDX-License-Identifier: GPL-3.0-or-later
// Activations in one pass each way. LibTorch's GELU spends most of its time in a tanh that is exact
// to the last bit, and silu(a) * b takes two passes forward and four backward.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Whether the forms below have a kernel for such an input: dense float32 on the CPU, without
/// autocast, and large enough to pay for the longer call.
bool hasFusedActivation(const torch::Tensor& x);

/// GELU with the tanh approximation.
torch::Tensor fusedGelu(const torch::Tensor& x);
/// silu(gate) * value; both of the same shape.
torch::Tensor fusedSwiglu(const torch::Tensor& gate, const torch::Tensor& value);

}  // namespace relascope::core
