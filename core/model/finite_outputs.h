// SPDX-License-Identifier: GPL-3.0-or-later
// Outputs that are not finite (NaN or infinite) are no answers.
#pragma once

#include <string>

#include "model/model.h"

namespace relascope::core {

/// Empty if the outputs of a pass on that input are finite; otherwise a sentence that names the
/// first hook point with such numbers, found by running the same pass with the current hooks once
/// more.
std::string whyNotFinite(const torch::Tensor& outputs, ModelImpl& model, const ModelInput& input);

/// The outputs of a pass with the current hooks. Throws Error with the sentence of whyNotFinite()
/// where they are not finite.
torch::Tensor answersOf(ModelImpl& model, const ModelInput& input);

}  // namespace relascope::core
