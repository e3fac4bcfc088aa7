// SPDX-License-Identifier: GPL-3.0-or-later
// What a process may use of its machine: in a container, or a job of Slurm, less than there is.
// Control groups of Linux, version 1 and 2, with those that they are nested in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace relascope::core {

struct MachineLimits {
    std::optional<double> cores;              ///< processors that are worth of time: 0.5
    std::optional<std::uint64_t> memory;      ///< bytes
    std::optional<std::uint64_t> memoryLeft;  ///< bytes of these that the group does not use yet
};

/// The limits of this process as they are now; none where there are none. `root` stands before the
/// paths of /proc and of the mounts.
MachineLimits machineLimits(const std::string& root = {});

/// How many threads compute at once: the processors that this process may run on, at most its
/// limit rounded up, at least 1.
int usableCores();

/// How many processes of this process's control group the system has ended for want of memory; 0 if
/// unknown.
std::int64_t groupOomKills(const std::string& root = {});

}  // namespace relascope::core
