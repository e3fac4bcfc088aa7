// SPDX-License-Identifier: GPL-3.0-or-later
// What run.json says of how a run was made, without the run being opened.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace relascope::core {

/// The facts of run.json, in their order: "version", "torch", "threads" ... Throws FileError.
std::vector<std::pair<std::string, std::string>> readRunFacts(const std::string& path);

/// The processes of a run of several, from its facts: "2 ranks: cuda:0, cuda:1 on node7, node8", as
/// far as they are there; empty for one process.
std::string processesText(const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace relascope::core
