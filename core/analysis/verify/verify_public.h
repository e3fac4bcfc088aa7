// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of golden cases of public families (golden/public): streams by number, the lens, parts
// cut out, a patched stream, head measures, texts of a tokenizer. Internal to verify.
#pragma once

#include <torch/types.h>

#include <map>
#include <string>

#include "model/model.h"
#include "options/image_processor.h"
#include "types/checkpoint_info.h"

namespace relascope::core {

/// Adds to `ours` the tensors for the keys of `io` that have one of these forms: "hidden/0" and so
/// on, "scores/I", "lens/I", "cut/...", "patch/resid", "heads/...", "output/class_logits" and
/// "output/distillation_logits". `input` is on the model's device, `folder` is named in errors, and
/// streams have the `edits` in force, unless it is null.
void addPublicKeys(std::map<std::string, torch::Tensor>& ours,
                   const std::map<std::string, torch::Tensor>& io, ModelImpl& model,
                   const ModelOptions& options, const ModelInput& input, const std::string& folder,
                   Hooks* edits);

/// The tokenizer of a folder on the texts of its tokenizer_cases.json: ids, ids without the
/// template, and the text back. `absolute` is the number of texts that differ, `note` names the
/// first. Throws FileError if a file is not of that form.
VerifyLine verifyTokenizer(const std::string& folder);

/// The pixels of a picture, [1, channels, height, width], scaled and cut, without mean and
/// deviation.
torch::Tensor pixelValues(const Image& image, const ImageProcessor& processor);

}  // namespace relascope::core
