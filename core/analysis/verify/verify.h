// SPDX-License-Identifier: GPL-3.0-or-later
// Compares a model with stored results of the published implementation: folders of golden cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "types/checkpoint_info.h"
#include "types/error.h"
#include "types/image.h"

namespace relascope::core {

/// Reads the checkpoint (any form of checkpoint.h) and io.safetensors of the folder, recomputes
/// every stored tensor and compares: outputs, hidden states, scores, relations and loss within 2e-5
/// (absolute plus relative), gradients and the ten AdamW losses within 1e-4; on CUDA 1e-4 and 5e-4.
/// An unknown stored key is an error. Throws FileError or OptionError if the folder is not a golden
/// case. `device` is "cpu" or "cuda:0". A folder with edit.json is a case of edits: its model and
/// input are those of the folder that it names, in `models` (empty: the folder two levels up). A
/// folder with expected.json is one of relations and what an atlas says of them
/// (verify_relations.h): no model, within 1e-5. A folder with why.json is one of origins
/// (verify_why.h), whose model is found as that of edits. A tokenizer_cases.json beside a
/// tokenizer, with or without a model, is compared exactly (verify_public.h). A folder with
/// fit.json is one of a fitted relation (verify_fitted.h). `readImage` reads the pictures of cases
/// that have one (datasets/readers/image_folder.h); without it what is stored of them is left out.
VerifyReport verifyFolder(const std::string& folder, const std::string& device = "cpu",
                          const std::string& models = "",
                          const std::function<Image(const std::string&)>& readImage = {});

}  // namespace relascope::core
