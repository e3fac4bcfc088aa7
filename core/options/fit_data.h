// SPDX-License-Identifier: GPL-3.0-or-later
// Model options that follow from the data.
#pragma once

#include "types/run_options.h"

namespace relascope::core {

/// Sets the model options that follow from the data options: sizes of objects, vocabularies,
/// lengths, classes, image shapes. Options that the data do not determine (relational games, text,
/// folders of images) stay unchanged. Throws OptionError for an unknown kind.
void fitToData(RunOptions& options);

}  // namespace relascope::core
