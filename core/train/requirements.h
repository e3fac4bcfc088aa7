// SPDX-License-Identifier: GPL-3.0-or-later
// Checks that a model and its data fit together.
#pragma once

#include "data/dataset.h"
#include "types/model_options.h"

namespace relascope::core {

/// Throws OptionError ("data: ...", "model.FIELD: ...") unless the model accepts these examples and
/// has an output for every target.
void requireReadable(const ModelOptions& model, const Dataset& data);

}  // namespace relascope::core
