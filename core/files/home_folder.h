// SPDX-License-Identifier: GPL-3.0-or-later
// The environment of the user, and the folders below which files are put where nothing else is
// said.
#pragma once

#include <string>

namespace relascope::core {

/// The value of an environment variable; empty where it is not set.
std::string environment(const char* name);

/// $HOME. Throws Error where it is not set: "HOME is not set, so that there is no place for `what`;
/// set it, or `other`". The current folder never serves in its place.
std::string homeFolder(const std::string& what, const std::string& other);

/// The program's folder in the cache: relascope in $XDG_CACHE_HOME or ~/.cache; empty where neither
/// is an absolute path.
std::string programCacheFolder();

}  // namespace relascope::core
