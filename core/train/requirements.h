// SPDX-License-Identifier: GPL-3.0-or-later
// What a model and its data must have in common.
#pragma once

#include "data/dataset.h"
#include "types/model_options.h"

namespace relascope::core {

/// Throws OptionError ("data: ...", "model.FIELD: ...") unless the model reads such examples and
/// has an output for every answer.
void requireReadable(const ModelOptions& model, const Dataset& data);

}  // namespace relascope::core
