// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of views take: their options, without those that say where or how to compute.
#pragma once

#include <string>
#include <vector>

#include "types/field.h"

namespace relascope::core {

struct Analysis;

inline constexpr const char* kInspectView = "inspect";
inline constexpr const char* kStudyView = "study";

/// The analysis that a command is; null for another one.
const Analysis* analysisOfView(const std::string& command);
/// The options of a command. Throws OptionError("command", ...) for one that no view has.
std::vector<FieldSpec> viewOptions(const std::string& command);
/// The one of that name. Throws OptionError("options", ...).
const FieldSpec& viewOption(const std::vector<FieldSpec>& options, const std::string& name);

}  // namespace relascope::core
