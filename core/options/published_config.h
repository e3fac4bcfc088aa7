// SPDX-License-Identifier: GPL-3.0-or-later
// The configuration of published checkpoints: constructor arguments as JSON.
#pragma once

#include <string>

#include "types/model_options.h"

namespace relascope::core {

/// Reads the golden form {"class", "arguments"}, or the hub's: the arguments of a language model,
/// image model or sequence model alone, with the class inferred from the keys (`n_heads_ra` means
/// dual attention). Throws OptionError naming a key that is missing, of the wrong type, out of
/// bounds or not supported.
ModelOptions modelFromPublishedConfig(const std::string& text);

/// The inverse, in the names of the published constructors: the bare arguments for language models
/// (as the hub stores them), {"class", "arguments"} for all others.
std::string modelToPublishedConfig(const ModelOptions& model);

}  // namespace relascope::core
