// SPDX-License-Identifier: GPL-3.0-or-later
// Inputs of models stored as tensors, in golden cases and beside edits.
#pragma once

#include <torch/types.h>

#include <map>
#include <string>

#include "model/model.h"
#include "types/model_options.h"

namespace relascope::core {

/// A tensor of a file that was read. Throws FileError naming both if it is not there.
torch::Tensor storedTensor(const std::map<std::string, torch::Tensor>& tensors,
                           const std::string& name, const std::string& file);

/// The input of such a model: `prefix` + "images", "tokens", "objects", or "source" and
/// "target_in". Its shapes are checked by the model.
ModelInput storedInput(const std::map<std::string, torch::Tensor>& tensors,
                       const std::string& prefix, const ModelOptions& options,
                       const std::string& file);

}  // namespace relascope::core
