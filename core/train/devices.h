// SPDX-License-Identifier: GPL-3.0-or-later
// The devices that a run may use, their properties, and why other devices cannot be used.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/step_share.h"
#include "types/run_options.h"

namespace relascope::core {

namespace kernels {
struct KernelPlugin;
struct KernelProblems;
}  // namespace kernels

struct DeviceInfo {
    std::string name;   ///< "cpu", "cuda:0"
    std::string title;  ///< "CPU, 2 threads", "NVIDIA H200"; "NVIDIA GPU 0" if the name is unknown
    bool usable = true;
    std::string reason;  ///< why it cannot be used; empty otherwise
    /// CUDA: why Relascope's own kernels do not run on the device (kernels/plugin.h); empty if they
    /// do.
    std::string kernelsProblem;
    std::uint64_t memory = 0;  ///< bytes, in all; 0 if unknown
    // CUDA only; 0 or empty where LibTorch alone does not tell:
    std::string capability;  ///< compute capability, "9.0"
    int multiprocessors = 0;
    std::string driver, runtime;  ///< CUDA versions: the driver's newest, and LibTorch's
};

/// The memory of a device, in bytes; 0 if unknown.
struct DeviceMemory {
    std::uint64_t free = 0, total = 0;
};

/// Sets the number of threads of LibTorch (0: one for each core) and loads its CUDA library if
/// present. Call once at the start.
void initDevices(int threads = 0);
/// The CPU first, then every CUDA device, or one entry with the reason why there is none.
const std::vector<DeviceInfo>& devices();
/// The entry of a device; nullptr if there is none.
const DeviceInfo* findDevice(const std::string& name);
/// The properties of a CUDA device, from the library of kernels and LibTorch, without touching its
/// memory.
DeviceInfo cudaDevice(const kernels::KernelPlugin& plugin, int index);
/// The device of a name; "auto" is the first CUDA device, else the CPU. Throws OptionError for a
/// device that is not usable, and for a list of several.
std::string resolveDevice(const std::string& wanted);
/// resolveDevice() of each device in a list (train.device). Throws OptionError.
std::vector<std::string> resolveDevices(const std::string& wanted);
/// The memory of a device now. On CUDA this creates a context, which takes some memory itself, and
/// may wait for the driver.
DeviceMemory deviceMemory(const std::string& device);
/// Free memory of the device, in bytes; 0 if unknown.
std::uint64_t freeMemory(const std::string& device);
/// The free memory of the device with the least; 0 if the memory of one is unknown.
std::uint64_t leastFreeMemory(const std::vector<std::string>& devices);
/// The facts of a device in words: title, memory, compute capability, driver, or why it is not
/// usable.
std::vector<std::string> deviceFacts(const DeviceInfo& device, const DeviceMemory& memory);
/// Has the kernels of a CUDA device checked (cuda_check.h), if that was not done yet: takes part of
/// a second and, as a run would, memory of the device.
void checkKernels(const DeviceInfo& device);
/// The problems that a check of the kernels has found so far; none before a check, and for devices
/// without kernels.
kernels::KernelProblems kernelProblems(const DeviceInfo& device);
/// The types for which Relascope's kernels of attention serve a device: "bfloat16", "float16".
std::vector<std::string> kernelTypes(const DeviceInfo& device,
                                     const kernels::KernelProblems& found);
/// What computes attention on a CUDA device: "attention by Relascope's kernels for 16 bits at some
/// published sizes", or LibTorch and why; empty for the CPU.
std::string attentionText(const DeviceInfo& device, const kernels::KernelProblems& found);
std::string attentionText(const DeviceInfo& device);
/// How steps run on a usable CUDA device: "steps repeated as CUDA graphs", or one by one and why;
/// empty for other devices.
std::string stepsText(const DeviceInfo& device);
/// Why the steps of a device are not repeated as CUDA graphs; empty if they are.
std::string graphsProblem(const DeviceInfo& device);
/// Throws OptionError with advice if the training does not fit into the memory of the device. With
/// several processes (as many as train.device names if `ranks` are not given) each checks its own
/// device; on the CPU they share the memory, and one may check for all.
void requireMemory(const RunOptions& options, const std::string& device,
                   std::optional<Ranks> ranks = {});
/// The number of threads that LibTorch uses.
int threadCount();
/// The version of the library that is loaded: "LibTorch 2.11.0".
std::string torchVersion();

/// Pretends other devices, or another memory, than this machine has, while it exists and for all
/// threads. For tests.
class FakeDevicesScope {
public:
    using Memory = std::function<DeviceMemory(const std::string& device)>;
    FakeDevicesScope(std::vector<DeviceInfo> list, Memory memory);
    ~FakeDevicesScope();
    FakeDevicesScope(const FakeDevicesScope&) = delete;
    FakeDevicesScope& operator=(const FakeDevicesScope&) = delete;

private:
    friend const std::vector<DeviceInfo>& devices();
    friend DeviceMemory deviceMemory(const std::string& device);
    std::vector<DeviceInfo> m_list;
    Memory m_memory;
};

}  // namespace relascope::core
