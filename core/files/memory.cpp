// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/memory.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace relascope::core {

std::uint64_t memoryFigure(const char* file, const char* name) {
    const std::string key = std::string(name) + ":";
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (line.rfind(key, 0) == 0)
            return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
    return 0;
}

std::string byteText(std::uint64_t bytes) {
    char text[32];
    const double mib = static_cast<double>(bytes) / 1048576.0;
    if (mib >= 1024.0)
        std::snprintf(text, sizeof text, "%.1f GiB", mib / 1024.0);
    else
        std::snprintf(text, sizeof text, "%.0f MiB", std::ceil(mib));
    return text;
}

}  // namespace relascope::core
