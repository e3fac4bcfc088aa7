// SPDX-License-Identifier: GPL-3.0-or-later
// The runs on a disk: listed, named, moved and deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "types/error.h"
#include "types/run_info.h"
#include "types/run_options.h"

namespace relascope::core {

/// The run folders in a folder and its subfolders two deep, in no order.
std::vector<std::string> runFoldersIn(const std::string& folder);
/// Runs in a folder and its subfolders two deep (a run of several seeds is a folder of runs),
/// newest first. Folders whose names begin with a point are left out. `damaged` is called for runs
/// that cannot be read, which are not listed.
std::vector<RunInfo> listRuns(const std::string& folder,
                              const std::function<void(const Error&)>& damaged = {});
/// The run folders that a path stands for: itself, or "seed-0", "seed-1" and so on inside it by
/// their numbers; empty if it is neither.
std::vector<std::string> runsOf(const std::string& path);
/// An unused path for a deleted run in a folder .trash: in `root` if the run is inside it, else in
/// the parent folder of the run.
std::string trashPath(const std::string& root, const std::string& path);
/// Moves a run folder within a file system. Throws FileError, also if the run is being trained.
void moveRun(const std::string& from, const std::string& to);
/// The default folder for runs: $RELASCOPE_RUNS, else ~/Relascope/runs. Throws Error where neither
/// variable nor HOME is set.
std::string defaultRunsFolder();
/// The name of a run's model: its variant, or the checkpoint that it starts from.
std::string modelName(const RunOptions& options);
/// An unused folder name in `parent`: "between-dat-s0", with "-2" and so on appended if it exists.
/// It begins with data.name, where there is one, in place of the preset's.
std::string freshRunPath(const std::string& parent, const RunOptions& options, std::int64_t seed);

}  // namespace relascope::core
