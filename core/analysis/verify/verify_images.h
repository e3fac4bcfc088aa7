// SPDX-License-Identifier: GPL-3.0-or-later
// Golden cases of models of images (golden/vision-families/README.md).
#pragma once

#include <torch/types.h>

#include <map>
#include <string>

#include "checkpoint/source.h"
#include "model/model.h"

namespace relascope::core {

/// Sets what a case has that its folder does not say: the size of its images, and the number of
/// texts that are its classes.
void takeCase(ModelOptions& options, const std::map<std::string, torch::Tensor>& io);

/// Makes a model answer with how well the texts of a case, `input/texts`, fit; others stay.
void answerWithTexts(ModelImpl& model, const std::map<std::string, torch::Tensor>& io);

/// Adds what a case of a model of images asks for: features, the map of a learned query, pictures
/// of another size, the text tower. `ours` holds what its forward pass recorded.
void addImageKeys(std::map<std::string, torch::Tensor>& ours,
                  const std::map<std::string, torch::Tensor>& io, ModelImpl& model,
                  const ModelOptions& options, const CheckpointSource& source);

}  // namespace relascope::core
