// SPDX-License-Identifier: GPL-3.0-or-later
// Initial weights from an earlier stage of a run, or from a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "types/run_options.h"

namespace relascope::core {

/// Copies weights of a finished run (its best, where it restores them) into a model. `which` is
/// "all" (every tensor, by name) or a list of name prefixes, "abstractor.", each optionally with
/// the prefix in the model, "layers.0.>abstractor.layers.0.". Throws OptionError if a prefix
/// matches no tensor, or if a tensor is missing or has another shape; nothing is copied then.
void initFrom(const std::string& run, const std::string& which, ModelImpl& model);

/// Copies the weights of the checkpoint that the options of a new run start from into its model; a
/// classifier of another number of classes stays as it was drawn, and one of the same classes in
/// another order follows their names. The form of a public family goes into the run's folder, so
/// that its checkpoints are saved alike. Returns a sentence for people about a classifier whose
/// classes were others, or "". Throws FileError, OptionError.
std::string initFromCheckpoint(const RunOptions& options,
                               const std::vector<std::string>& classNames, const std::string& run,
                               ModelImpl& model);

}  // namespace relascope::core
