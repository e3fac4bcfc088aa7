// Options as JSON: run.json, presets, and the config.json of published checkpoints.
#pragma once

#include <string>

#include "types/run_options.h"

namespace relascope {

/// {"preset", "variant", "model": {...}, "train": {...}, "data": {...}}, every field.
std::string runOptionsToJson(const RunOptions& options);
/// The inverse; fields that are missing keep their defaults, unknown or ill-typed ones throw
/// OptionError.
RunOptions runOptionsFromJson(const std::string& text);

/// A published constructor call: config.json of the golden cases {"class", "arguments"}. Throws
/// OptionError naming the key that cannot be honoured.
ModelOptions modelFromPublishedConfig(const std::string& text);
/// The inverse, in the names and order of the published constructors.
std::string modelToPublishedConfig(const ModelOptions& model);

}  // namespace relascope
