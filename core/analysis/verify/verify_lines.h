// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of reports on golden cases. Internal to verify.
#pragma once

#include <torch/types.h>

#include <string>

#include "types/checkpoint_info.h"

namespace relascope::core {

/// A line on a tensor, held within `tolerance`, absolute plus relative.
VerifyLine comparedTensors(const std::string& name, const torch::Tensor& ours,
                           const torch::Tensor& theirs, double tolerance);
/// Adds a line to a report, which is no longer ok where the line is not.
void addLine(VerifyReport& report, VerifyLine line);

}  // namespace relascope::core
