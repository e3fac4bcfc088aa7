// SPDX-License-Identifier: GPL-3.0-or-later
// What a result was measured on, so that it is continued on nothing else. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "analysis/open_model.h"

namespace relascope::core {

/// Checksums of the weights, of these examples and of the kept weights of the run (empty: none).
std::string basisOf(const OpenedModel& model, const Dataset& data,
                    const std::vector<std::int64_t>& examples, const std::string& run = {});

}  // namespace relascope::core
