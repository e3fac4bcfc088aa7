// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the first value that is not finite.
#pragma once

#include <torch/types.h>

#include <string>

#include "model/model.h"

namespace relascope::core {

/// Saves and restores torch's default generator of a device, so that a step can be repeated with
/// the same dropout.
torch::Tensor saveGenerator(const torch::Device& device);
void restoreGenerator(const torch::Device& device, const torch::Tensor& state);

/// Runs the model again on the batch and names the first tensor with non-finite values: an input, a
/// weight, the output of a layer, or a gradient.
std::string firstNonFinite(ModelImpl& model, const ModelInput& input);

}  // namespace relascope::core
