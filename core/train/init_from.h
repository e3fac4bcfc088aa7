// SPDX-License-Identifier: GPL-3.0-or-later
// Initial weights from an earlier stage of a run.
#pragma once

#include <string>

#include "model/model.h"

namespace relascope::core {

/// Copies weights of a finished run (its best, where it restores them) into a model. `which` is
/// "all" (every tensor, by name) or a list of name prefixes, "abstractor.", each optionally with
/// the prefix in the model, "layers.0.>abstractor.layers.0.". Throws OptionError if a prefix
/// matches no tensor, or if a tensor is missing or has another shape; nothing is copied then.
void initFrom(const std::string& run, const std::string& which, ModelImpl& model);

}  // namespace relascope::core
