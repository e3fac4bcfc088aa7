// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors of LibTorch on their way to and from a process that serves a model.
#pragma once

#include <torch/types.h>

#include "model/served/served_link.h"

namespace relascope::core {

/// The numbers of a tensor, without a copy where they are contiguous on the CPU. Throws Error for a
/// type that does not travel.
ServedTensor servedTensor(const torch::Tensor& tensor);
/// A tensor of these numbers, without a copy. Throws Error unless the sizes fit the bytes.
torch::Tensor tensorOf(const ServedTensor& tensor);

}  // namespace relascope::core
