// SPDX-License-Identifier: GPL-3.0-or-later
// The devices that a run may use, and why others cannot be used.
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
    std::string reason;  ///< why it cannot be used; empty otherwise
    /// Of CUDA: why Relascope's own kernels do not run on it (kernels/plugin.h); empty if they do.
    std::string kernelsProblem;
};

/// Sets the number of threads of LibTorch (0: one for each core) and loads its CUDA library if
/// present. Call once at the start.
void initDevices(int threads = 0);
/// The CPU first, then every CUDA device, or one entry with the reason why there is none.
const std::vector<DeviceInfo>& devices();
/// "auto" -> the first CUDA device, else the CPU. Throws OptionError for a device that is not
/// usable.
std::string resolveDevice(const std::string& wanted);
/// Free memory of the device, in bytes; 0 if unknown.
std::uint64_t freeMemory(const std::string& device);
/// Throws OptionError with advice if the training does not fit into the memory of the device.
void requireMemory(const RunOptions& options, const std::string& device);
/// Threads that LibTorch uses.
int threadCount();
/// "LibTorch 2.11.0".
std::string torchVersion();

}  // namespace relascope::core
