// SPDX-License-Identifier: GPL-3.0-or-later
// Edits from options: files of edits, words, or "none". Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "interventions/check_edits.h"

namespace relascope::core {

/// The edits of all arguments, in order: files of edits, "none", or words (edit_words.h). `points`
/// are the model's hook points for the input, and errors name `option`. Throws OptionError,
/// FileError.
EditList editsNamed(const std::vector<std::string>& arguments, const std::vector<PointInfo>& points,
                    EditUse use = EditUse::Inspect, const std::string& option = "--edit");

/// Whether "none" is among the arguments: then edits that a run trains with are left out, too.
bool namesNone(const std::vector<std::string>& arguments);

}  // namespace relascope::core
