// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of views take: their options, without those that say where or how to compute.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types/field.h"

namespace relascope::core {

struct Analysis;

inline constexpr const char* kInspectView = "inspect";
inline constexpr const char* kStudyView = "study";
inline constexpr const char* kCurvesView = "curves";
inline constexpr std::size_t kMostCurves = 64;  ///< runs of a view of curves
/// Whether a view is of weights, not of what a study or a training has measured.
inline bool isOfWeights(const std::string& command) {
    return command != kStudyView && command != kCurvesView;
}

/// The analysis that a command is; null for another one.
const Analysis* analysisOfView(const std::string& command);
/// The options of a command. Throws OptionError("command", ...) for one that no view has.
std::vector<FieldSpec> viewOptions(const std::string& command);
/// The one of that name. Throws OptionError("options", ...).
const FieldSpec& viewOption(const std::vector<FieldSpec>& options, const std::string& name);

/// Why the window cannot open a view: the option that its pages do not measure with, and its value.
/// Empty: it can. Commands draw all views.
std::string unreadByWindow(const View& view);

}  // namespace relascope::core
