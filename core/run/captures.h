// SPDX-License-Identifier: GPL-3.0-or-later
// Relations and scores of a few chosen inputs, kept along a run at growing intervals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/relation_map.h"

namespace relascope::core {

/// What all captures of a run may take on disk together; fewer inputs are kept when they would not
/// fit.
constexpr std::uint64_t kCaptureBudget = 256ull << 20;

/// True when growing intervals put a capture at this step: 0 to 5, 8, 11, 16, 22, 32, ... (a factor
/// of sqrt 2), so that 100,000 steps have some 35 of them.
bool isGrowingCaptureStep(std::int64_t step);
/// How many captures a run of that many steps makes; `every` 0 means growing intervals.
std::int64_t captureCount(std::int64_t totalSteps, std::int64_t every);

/// Writes captures/step-N.safetensors: for each kind and layer the maps of all inputs, exact
/// float32.
void saveCapture(const std::string& folder, const std::vector<ProbeResult>& results);
/// Steps captured, ascending; read from the names alone.
std::vector<std::int64_t> captureSteps(const std::string& folder);
/// The captured input number `sample` at that step. Throws FileError.
ProbeResult loadCapture(const std::string& folder, std::int64_t step, std::int64_t sample);
/// How many inputs a capture holds.
std::int64_t captureSamples(const std::string& folder, std::int64_t step);

}  // namespace relascope::core
