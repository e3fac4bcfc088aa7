// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/home_folder.h"

#include <cstdlib>

#include "types/error.h"

namespace relascope::core {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string homeFolder(const std::string& what, const std::string& other) {
    if (auto home = environment("HOME"); !home.empty()) return home;
    throw Error("HOME is not set, so that there is no place for " + what + "; set it, or " + other);
}

std::string programCacheFolder() {
    const auto cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
    if (cache.starts_with('/')) return cache + "/relascope";
    return home.starts_with('/') ? home + "/.cache/relascope" : std::string();
}

}  // namespace relascope::core
