// SPDX-License-Identifier: GPL-3.0-or-later
// This version's command line for a machine where it is not installed: a copy of the installed tree
// with the libraries that it needs beyond the C library, as one stream through Host::reach. It lies
// in ~/.local/share/relascope/VERSION there, where farCommand() looks first; no rights of root are
// needed, and other versions stay.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "wire/host.h"

namespace relascope::wire {

/// Copies the tree that this program is installed in. Blocks; `progress` gets the fraction done, at
/// least every 50 ms, and returns false to cancel. Throws Error with a sentence where this program
/// runs from a build folder, or with the last words of what failed there; Cancelled. Then
/// VERSION.part is left there, and the next call replaces it.
void installThere(const Host& host, const std::function<bool(double)>& progress);

/// installThere() for the tree PREFIX/{bin/relascope-cli,lib/relascope,share/relascope}.
void installTree(const Host& host, const std::string& prefix,
                 const std::function<bool(double)>& progress);

/// Names of the folders in ~/.local/share/relascope of this machine other than this version's:
/// other versions, and incomplete copies. Versions whose programs run are left out.
std::vector<std::string> otherVersions();
/// Removes the folders of otherVersions() with these names.
void removeVersions(const std::vector<std::string>& names);

/// The libraries to copy, from the output of ldd: files that do not belong to the C library and do
/// not lie in the folder `own`.
std::vector<std::string> librariesToCopy(const std::string& ldd, const std::string& own);

}  // namespace relascope::wire
