// SPDX-License-Identifier: GPL-3.0-or-later
// The commit that this program was built from. Its source is written at every build
// (commit.cmake), and only where something has changed.
#pragma once

namespace relascope::cli {

struct Commit {
    const char* hash;  ///< "08fb745", or the text of RELASCOPE_COMMIT; "unknown" without git
    const char* date;  ///< "2026-03-01"; empty if unknown
    bool modified;     ///< the files under version control had changes
};
extern const Commit kCommit;

}  // namespace relascope::cli
