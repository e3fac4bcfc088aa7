// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates that the form shows for a run before it starts: memory, tokens, kept weights, time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <QString>

#include "types/run_options.h"

namespace relascope::app {

/// Estimates of valid options, as label and value. `free` is the free memory in bytes of the device
/// (of the one with the least, if there are several), 0 if unknown; `flopsPerSecond` is 0 before a
/// run was measured.
std::vector<std::pair<QString, QString>> runEstimates(const RunOptions& options, std::uint64_t free,
                                                      double flopsPerSecond);

}  // namespace relascope::app
