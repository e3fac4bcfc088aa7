// SPDX-License-Identifier: GPL-3.0-or-later
// Relations and attention of a few inputs, captured at growing intervals during training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/relation_map.h"

namespace relascope::core {

/// Disk budget for all captures of a run; fewer inputs are captured if they would not fit.
constexpr std::uint64_t kCaptureBudget = 256ull << 20;

/// True when growing intervals put a capture at this step: 0 to 5, 8, 11, 16, 22, 32, ... (a factor
/// of sqrt 2), about 35 captures in 100,000 steps.
bool isGrowingCaptureStep(std::int64_t step);
/// The number of captures in that many steps; `every` 0 means growing intervals.
std::int64_t captureCount(std::int64_t totalSteps, std::int64_t every);

/// Writes captures/step-N.safetensors: for each kind and layer the maps of all inputs or their
/// factors, exact float32.
void saveCapture(const std::string& folder, const std::vector<ProbeResult>& results);
/// Captured steps, ascending, from the file names.
std::vector<std::int64_t> captureSteps(const std::string& folder);
/// The captured input number `sample` at that step. Throws FileError.
ProbeResult loadCapture(const std::string& folder, std::int64_t step, std::int64_t sample);
/// How many inputs a capture holds.
std::int64_t captureSamples(const std::string& folder, std::int64_t step);

}  // namespace relascope::core
