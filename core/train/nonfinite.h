// SPDX-License-Identifier: GPL-3.0-or-later
// Finding where a number stopped being one.
#pragma once

#include <torch/types.h>

#include <string>

#include "model/factory.h"

namespace relascope::core {

/// Torch's default generator of that device, and its return: so that a step can be looked at again
/// with the same dropout.
torch::Tensor saveGenerator(const torch::Device& device);
void restoreGenerator(const torch::Device& device, const torch::Tensor& state);

/// Runs the model again on the batch and names the first thing whose numbers are not finite: an
/// input, a weight, a layer's output, or a gradient; in words.
std::string firstNonFinite(ModelImpl& model, const ModelInput& input);

}  // namespace relascope::core
