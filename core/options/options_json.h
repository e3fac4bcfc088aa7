// Options as JSON: run.json and presets.
#pragma once

#include <string>

#include "types/run_options.h"

namespace relascope {

/// {"preset", "variant", "model": {...}, "train": {...}, "data": {...}}, every field.
std::string runOptionsToJson(const RunOptions& options);
/// The inverse; fields that are missing keep their defaults, unknown or ill-typed ones throw
/// OptionError.
RunOptions runOptionsFromJson(const std::string& text);

}  // namespace relascope
