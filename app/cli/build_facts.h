// SPDX-License-Identifier: GPL-3.0-or-later
// What this program is: its version, its commit, and what it was built with and runs on.
#pragma once

#include <string>

namespace relascope::cli {

struct BuildFacts {
    std::string version;    ///< "0.5.0"
    std::string commit;     ///< "08fb745"; "unknown" when built without git
    std::string date;       ///< date of the commit, "2026-03-01"; empty if unknown
    bool modified = false;  ///< built with changes since the commit
    std::string libtorch;   ///< the LibTorch of the commands, "2.11.0"
    std::string qt;         ///< the Qt that is loaded; empty in a program without Qt
    std::string compiler;   ///< "GCC 12.2.0"
    std::string build;      ///< "Release"
};

/// The facts about this program. `qt` is the version of the Qt that is loaded, which this code,
/// built without Qt, cannot find out.
BuildFacts buildFacts(const std::string& qt = {});
/// The commit in words, with + for changes since: "08fb745+ of 2026-03-01".
std::string commitText(const BuildFacts& facts);
/// The facts, one per line: "relascope 0.5.0", "commit 08fb745 of 2026-03-01", "LibTorch 2.11.0"
/// ...
std::string versionText(const BuildFacts& facts);
/// The facts as one JSON object.
std::string versionJson(const BuildFacts& facts);

// The commit that this program was built from. Its source is written at every build
// (commit.cmake), and only where something has changed.

struct Commit {
    const char* hash;  ///< "08fb745", or the text of RELASCOPE_COMMIT; "unknown" without git
    const char* date;  ///< "2026-03-01"; empty if unknown
    bool modified;     ///< the files under version control had changes
};
extern const Commit kCommit;

}  // namespace relascope::cli
