// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of a study as a file, study.json, and the files of its cells. Private to core/study.
#pragma once

#include <string>

#include "types/study.h"

namespace relascope::core {

/// The last part of an option's key: "seed" of "data.seed".
std::string lastPart(const std::string& key);
/// Reads a plan. Throws FileError if it is missing, damaged or of another format.
StudyPlan readPlan(const std::string& path);
/// How two plans differ: "its models are dat, not dat, transformer; its sizes are ..."; empty if
/// they are equal.
std::string planDifferences(const StudyPlan& there, const StudyPlan& wanted);

std::string runPath(const std::string& study, const StudyCell& cell);
std::string claimPath(const std::string& study, const StudyCell& cell);
/// Reads the state of a cell from its run folder and, unless this process has `claimed` it, from
/// its claim.
void updateState(const std::string& study, StudyCell& cell, bool claimed);

}  // namespace relascope::core
