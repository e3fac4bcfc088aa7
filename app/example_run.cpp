// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/example_run.h"

#include <filesystem>

#include "files/atomic_file.h"
#include "files/program_folder.h"
#include "run/run_list.h"
#include "types/error.h"

namespace relascope::app {

namespace fs = std::filesystem;

std::string exampleRun(const std::string& runs) {
    return runs + "/example";
}

void copyExampleRun(const std::string& runs) {
    const std::string from = core::installedData("example"), to = exampleRun(runs);
    if (from.empty() || fs::exists(to) || !core::runFoldersIn(runs).empty()) return;
    core::makeDirectories(runs);
    // Lists leave names with a point out, so that no half of a run is ever listed.
    const std::string made = runs + "/.example";
    std::error_code error, ignored;
    fs::remove_all(made, ignored);
    fs::copy(from, made, fs::copy_options::recursive, error);
    // An installation may be read-only, and copies keep the permissions.
    for (fs::recursive_directory_iterator at(made, ignored), end; !error && at != end; ++at)
        fs::permissions(at->path(), fs::perms::owner_write, fs::perm_options::add, error);
    if (!error) fs::rename(made, to, error);
    if (!error) return;
    fs::remove_all(made, ignored);
    throw FileError(to, "could not be made: " + error.message());
}

}  // namespace relascope::app
