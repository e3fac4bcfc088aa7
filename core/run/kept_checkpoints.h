// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints that are kept permanently: a branch of the run can start from each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace relascope::core {

/// The file that marks a checkpoint as kept: the options of its step.
inline std::string keptMark(const std::string& checkpoint) {
    return checkpoint + "/options.json";
}
inline bool isKeptCheckpoint(const std::string& checkpoint) {
    std::error_code ignored;
    return std::filesystem::exists(keptMark(checkpoint), ignored) &&
           std::filesystem::exists(checkpoint + "/manifest.json", ignored);
}
/// Whether the run has a checkpoint of that step that is kept.
inline bool hasKeptCheckpoint(const std::string& run, std::int64_t step) {
    return isKeptCheckpoint(run + "/checkpoints/step-" + std::to_string(step));
}

}  // namespace relascope::core
