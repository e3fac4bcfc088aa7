// SPDX-License-Identifier: GPL-3.0-or-later
// The finished run that comes with the program, which the first start opens: a copy of it among the
// user's runs, since labels and results are written beside a run.
#pragma once

#include <string>

namespace relascope::app {

/// Where the copy lies in a folder of runs: FOLDER/example.
std::string exampleRun(const std::string& runs);

/// Copies the run there if the folder has no runs at all. Throws FileError; nothing is left behind
/// then. Does nothing where the program came without it.
void copyExampleRun(const std::string& runs);

}  // namespace relascope::app
