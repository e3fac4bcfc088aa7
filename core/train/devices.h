// SPDX-License-Identifier: GPL-3.0-or-later
// Which machines a run may use, and why not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/run_options.h"

namespace relascope::core {

struct DeviceInfo {
    std::string name;   ///< "cpu", "cuda:0"
    std::string title;  ///< "CPU, 2 threads", "NVIDIA H200, 139 GiB"
    bool usable = true;
    std::string reason;  ///< why it is not usable, in words; empty otherwise
};

/// Sets LibTorch's threads (0: one a core), loads its CUDA part when it is there. Call once, first
/// thing.
void initDevices(int threads = 0);
/// The CPU first, then every CUDA device, or one line that says why there is none.
const std::vector<DeviceInfo>& devices();
/// "auto" -> the first CUDA device, else the CPU. Throws OptionError for a device that is not
/// usable.
std::string resolveDevice(const std::string& wanted);
/// Memory that is free there, in bytes; 0 when it cannot be known.
std::uint64_t freeMemory(const std::string& device);
/// Throws OptionError with advice when the training that the options describe cannot fit there.
void requireMemory(const RunOptions& options, const std::string& device);
/// Threads that LibTorch uses.
int threadCount();
/// "LibTorch 2.11.0".
std::string torchVersion();

}  // namespace relascope::core
