// SPDX-License-Identifier: GPL-3.0-or-later
// One small model of every architecture and of every option that changes what is computed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "support/rooms.h"
#include "types/model_options.h"

namespace relascope {

/// Names for messages, and options of a few hundred to a few thousand parameters.
std::vector<std::pair<std::string, ModelOptions>> smallModels();

/// A batch that fits the model, drawn from torch's generator; floating point as `type`.
ModelInput smallBatch(const ModelOptions& options, std::int64_t batch,
                      torch::ScalarType type = torch::kFloat);

}  // namespace relascope
