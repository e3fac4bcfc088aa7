// SPDX-License-Identifier: GPL-3.0-or-later
// Converts tensors of a file of a public family to the model's (family.h).
#pragma once

#include <torch/types.h>

#include <vector>

#include "model/public/family.h"

namespace relascope::core {

/// The tensors of the model, FileTensor::parts, in a tensor of the file, which has the file's shape
/// and any type: views of it where the form allows.
std::vector<torch::Tensor> partsOf(const FileTensor& tensor, const torch::Tensor& stored);

/// The tensors of a model in which a tensor of a file lies: those of its parts, or one row.
template <class Tensors>
std::vector<torch::Tensor> placesOf(const FileTensor& tensor, const Tensors& model) {
    std::vector<torch::Tensor> places;
    for (const auto& part : tensor.parts)
        places.push_back(tensor.index < 0 ? model.at(part)
                                          : model.at(part).select(0, tensor.index));
    return places;
}

/// The inverse of partsOf(): the tensor of the file, of the type of the model's tensors.
torch::Tensor storedOf(const FileTensor& tensor, const std::vector<torch::Tensor>& parts);

}  // namespace relascope::core
