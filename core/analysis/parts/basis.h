// SPDX-License-Identifier: GPL-3.0-or-later
// The basis of a result: the weights and data that it was measured on, so that it is continued on
// nothing else. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "analysis/open_model.h"

namespace relascope::core {

/// The basis as text: checksums of the weights, of these examples and of the kept weights of the
/// run folder `run` (empty: none).
std::string basisOf(const OpenedModel& model, const Dataset& data,
                    const std::vector<std::int64_t>& examples, const std::string& run = {});

}  // namespace relascope::core
