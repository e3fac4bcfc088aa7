// SPDX-License-Identifier: GPL-3.0-or-later
// What the system says of memory.
#pragma once

#include <cstdint>
#include <string>

namespace relascope::core {

/// A figure of /proc in bytes ("/proc/meminfo", "MemAvailable"; "/proc/self/status", "VmRSS"); 0
/// when the system does not say.
std::uint64_t memoryFigure(const char* file, const char* name);

/// What programs can still be given, in bytes; 0 when unknown.
inline std::uint64_t availableMemory() {
    return memoryFigure("/proc/meminfo", "MemAvailable");
}

/// "1.3 GiB", "210 MiB".
std::string byteText(std::uint64_t bytes);

}  // namespace relascope::core
