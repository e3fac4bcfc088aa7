// SPDX-License-Identifier: GPL-3.0-or-later
// Options as JSON: run.json and presets.
#pragma once

#include <string>

#include "types/run_options.h"

namespace relascope::core {

/// {"preset", "variant", "model": {...}, "train": {...}, "data": {...}}, every field that this
/// architecture has.
std::string runOptionsToJson(const RunOptions& options);
/// The inverse; fields that are missing keep their defaults, those of other architectures (stored
/// by earlier versions) are left out, unknown or ill-typed ones throw OptionError.
RunOptions runOptionsFromJson(const std::string& text);

}  // namespace relascope::core
