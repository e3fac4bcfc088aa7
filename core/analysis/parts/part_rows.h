// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a model that analyses take out or replace. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/edit_results.h"

namespace relascope::core {

/// "heads", "relations", "columns", "paths", "mlp", "symbols" (of a library).
const std::vector<std::string>& partGroups();
/// The parts of a model with these points as rows, in the order of the forward pass; `groups` are
/// among partGroups(). Nothing is measured.
std::vector<AblationRow> partRows(const std::vector<PointInfo>& points,
                                  const std::vector<std::string>& groups);

}  // namespace relascope::core
