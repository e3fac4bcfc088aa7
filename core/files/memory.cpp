// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "files/machine_limits.h"

namespace relascope::core {

std::uint64_t memoryFigure(const char* file, const char* name) {
    const std::string key = std::string(name) + ":";
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (line.rfind(key, 0) == 0)
            return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
    return 0;
}

namespace {

/// The smaller of a figure of the machine and a limit, either of which may be unknown.
std::uint64_t within(std::uint64_t figure, std::optional<std::uint64_t> limit) {
    return !limit ? figure : figure == 0 ? *limit : std::min(figure, *limit);
}

}  // namespace

std::uint64_t totalMemory() {
    return within(memoryFigure("/proc/meminfo", "MemTotal"), machineLimits().memory);
}

std::uint64_t availableMemory() {
    const auto available =
        within(memoryFigure("/proc/meminfo", "MemAvailable"), machineLimits().memoryLeft);
    // 0 is unknown.
    return machineLimits().memoryLeft ? std::max<std::uint64_t>(1, available) : available;
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
