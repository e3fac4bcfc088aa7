// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/home_folder.h"

#include <cstdlib>

#include "types/error.h"

namespace relascope::core {

std::string homeFolder(const std::string& what, const std::string& other) {
    const char* home = std::getenv("HOME");
    if (home && *home) return home;
    throw Error("HOME is not set, so that there is no place for " + what + "; set it, or " + other);
}

std::string programCacheFolder() {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && *cache == '/') return std::string(cache) + "/relascope";
    return home && *home == '/' ? std::string(home) + "/.cache/relascope" : std::string();
}

}  // namespace relascope::core
