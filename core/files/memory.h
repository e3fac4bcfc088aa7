// SPDX-License-Identifier: GPL-3.0-or-later
// Memory figures of the operating system.
#pragma once

#include <cstdint>
#include <string>

namespace relascope::core {

/// A figure of /proc in bytes ("/proc/meminfo", "MemAvailable"; "/proc/self/status", "VmRSS"); 0 if
/// not available.
std::uint64_t memoryFigure(const char* file, const char* name);

/// Memory of the machine, and what of it is available to programs, in bytes; 0 if unknown. Within
/// the limits of the process (files/machine_limits.h).
std::uint64_t totalMemory();
std::uint64_t availableMemory();

/// A number of bytes in words: "1.3 GiB", "210 MiB".
std::string byteText(std::uint64_t bytes);

}  // namespace relascope::core
