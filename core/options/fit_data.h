// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes of a model that its data dictate.
#pragma once

#include "types/run_options.h"

namespace relascope::core {

/// Puts into the model what the data options decide: sizes of objects, vocabularies, lengths,
/// classes, image shapes. What the data leave open (relational games, text, folders of images)
/// stays as it is. Throws OptionError for an unknown kind.
void fitToData(RunOptions& options);

}  // namespace relascope::core
