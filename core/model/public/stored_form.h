// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors of a file of a public family as those of the model (family.h).
#pragma once

#include <torch/types.h>

#include <vector>

#include "model/public/family.h"

namespace relascope::core {

/// The tensors of the model, FileTensor::parts, that are in one of the file's shape and of any
/// type: views of it where the form allows.
std::vector<torch::Tensor> partsOf(const FileTensor& tensor, const torch::Tensor& stored);

/// The inverse: the tensor of the file, of the type of the model's.
torch::Tensor storedOf(const FileTensor& tensor, const std::vector<torch::Tensor>& parts);

}  // namespace relascope::core
