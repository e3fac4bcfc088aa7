// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that one stage of a run hands on to the next.
#pragma once

#include <string>

#include "model/factory.h"

namespace relascope::core {

/// Copies weights of a finished run (its best, where it restores them) into a model. `which` is
/// "all": every tensor of both by its name; or words, each the beginning of names, "abstractor.",
/// or with what they are called in the model, "layers.0.>abstractor.layers.0.". Throws OptionError
/// when a word fits no tensor, or a tensor is missing or shaped otherwise; nothing is copied then.
void initFrom(const std::string& run, const std::string& which, ModelImpl& model);

}  // namespace relascope::core
