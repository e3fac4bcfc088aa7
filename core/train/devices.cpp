// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/devices.h"
#include "train/bfloat16_gain.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <caffe2/core/common.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>

#include "files/machine_limits.h"
#include "files/memory.h"
#include "model/attention/cuda_check.h"
#include "model/graph/device_graph.h"
#include "options/device_list.h"
#include "options/estimates.h"
#include "train/find_cuda.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

std::string& cudaProblem() {
    static std::string problem = "the CUDA libraries of LibTorch were not searched";
    return problem;
}

std::atomic<const FakeDevicesScope*> s_fake = nullptr;

/// A version of CUDA as text: "13.0" for 13000.
std::string versionText(long version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int indexOf(const torch::Device& device) {
    return device.has_index() ? device.index() : 0;
}

DeviceMemory cudaMemory(const torch::Device& device) {
    const int index = indexOf(device);
    try {
        // Creates a context on this device, and on no other: a process has one of its own.
        const auto [left, total] =
            at::accelerator::getMemoryInfo(static_cast<c10::DeviceIndex>(index));
        return {left, total};
    } catch (const std::exception&) {
        const DeviceInfo* known = findDevice("cuda:" + std::to_string(index));
        return {0, known ? known->memory : 0};
    }
}

/// Memory in words, as far as known: "77.5 of 79.1 GiB free".
std::string memoryText(std::uint64_t free, std::uint64_t total) {
    if (total == 0) return free == 0 ? "" : byteText(free) + " free";
    const std::string all = byteText(total), left = byteText(free);
    if (free == 0) return all;
    const auto unit = all.find(' ');
    const bool same = left.ends_with(all.substr(unit));
    return (same ? left.substr(0, left.find(' ')) : left) + " of " + all + " free";
}

}  // namespace

FakeDevicesScope::FakeDevicesScope(std::vector<DeviceInfo> list, Memory memory)
    : m_list(std::move(list)), m_memory(std::move(memory)) {
    s_fake = this;
}
FakeDevicesScope::~FakeDevicesScope() {
    s_fake = nullptr;
}

void initDevices(int threads) {
    at::set_num_threads(threads > 0 ? threads : usableCores());
    // Without this variable cuBLAS may add in another order each time, which a resumed run would
    // show; to be set before the first CUDA call.
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    cudaProblem() = openTorchCuda();
}

const std::vector<DeviceInfo>& devices() {
    if (const auto* fake = s_fake.load()) return fake->m_list;
    static const std::vector<DeviceInfo> list = [] {
        DeviceInfo cpu{.name = "cpu"};
        cpu.title =
            "CPU, " + std::to_string(threadCount()) + (threadCount() == 1 ? " thread" : " threads");
        cpu.memory = totalMemory();
        std::vector<DeviceInfo> all = {cpu};
        std::string problem = cudaProblem();
        try {
            if (problem.empty() && !torch::cuda::is_available())
                problem =
                    "no CUDA device was found; an NVIDIA GPU with driver 580 or newer is needed";
            if (problem.empty()) {
                for (int i = 0; i < static_cast<int>(torch::cuda::device_count()); ++i)
                    all.push_back(cudaDevice(kernels::kernelPlugin(), i));
            }
        } catch (const std::exception& error) {
            problem = std::string("CUDA cannot be initialised: ") + error.what();
        }
        if (!problem.empty())
            all.push_back({.name = "cuda",
                           .title = "CUDA",
                           .usable = false,
                           .reason = problem.substr(0, problem.find('\n')),
                           .kernelsProblem = kernels::kernelsProblem()});
        return all;
    }();
    return list;
}

const DeviceInfo* findDevice(const std::string& name) {
    const auto& all = devices();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.name == name; });
    return found == all.end() ? nullptr : &*found;
}

DeviceInfo cudaDevice(const kernels::KernelPlugin& plugin, int index) {
    DeviceInfo info{.name = "cuda:" + std::to_string(index),
                    .title = "NVIDIA GPU " + std::to_string(index),
                    .kernelsProblem = plugin.problemOn(index)};
    if (const auto& hooks = at::detail::getCUDAHooks(); hooks.hasCUDART())
        info.runtime = versionText(hooks.versionCUDART());
    if (!plugin.table) return info;
    kernels::DeviceFacts facts;
    if (plugin.table->deviceFacts(index, &facts) == 0)
        info.title = facts.name, info.memory = facts.memoryBytes;
    kernels::DeviceLimits limits;
    if (plugin.table->deviceLimits(index, &limits) == 0) {
        info.capability = std::to_string(limits.major) + "." + std::to_string(limits.minor);
        info.multiprocessors = limits.multiprocessors;
    }
    int driver = 0, runtime = 0;
    if (plugin.table->versions(&driver, &runtime) == 0)
        info.driver = versionText(driver), info.runtime = versionText(runtime);
    return info;
}

std::string resolveDevice(const std::string& wanted) {
    if (wanted.find(',') != std::string::npos)
        throw OptionError("device", "'" + wanted + "' is a list; give one device, as in cuda:0");
    std::vector<std::string> names = {"auto"};
    std::string first;
    for (const auto& device : devices()) {
        names.push_back(device.name);
        if (device.usable && device.name != "cpu" && first.empty()) first = device.name;
        if (device.name == wanted || (wanted == "cuda" && device.name == "cuda:0")) {
            if (!device.usable) throw OptionError("device", "cuda is not usable: " + device.reason);
            return device.name;
        }
    }
    if (wanted == "auto" || wanted.empty()) return first.empty() ? "cpu" : first;
    if (wanted.rfind("cuda", 0) == 0 && !devices().back().usable)
        throw OptionError("device", wanted + " is not usable: " + devices().back().reason);
    throw OptionError("device", unknownName("device", wanted, names));
}

std::vector<std::string> resolveDevices(const std::string& wanted) {
    auto names = deviceList(wanted);
    for (auto& name : names) name = resolveDevice(name);
    return names;
}

DeviceMemory deviceMemory(const std::string& device) {
    if (const auto* fake = s_fake.load()) return fake->m_memory(device);
    const torch::Device where(device);
    if (where.is_cuda()) return cudaMemory(where);
    return {availableMemory(), totalMemory()};
}

std::uint64_t freeMemory(const std::string& device) {
    return deviceMemory(device).free;
}

std::uint64_t leastFreeMemory(const std::vector<std::string>& devices) {
    std::uint64_t least = 0;
    for (const auto& name : std::set<std::string>(devices.begin(), devices.end())) {
        const auto free = freeMemory(name);
        if (free == 0) return 0;
        least = least == 0 ? free : std::min(least, free);
    }
    return least;
}

std::vector<std::string> deviceFacts(const DeviceInfo& device, const DeviceMemory& memory) {
    std::vector<std::string> facts = {device.title};
    const auto total = memory.total > 0 ? memory.total : device.memory;
    if (const auto text = memoryText(memory.free, total); !text.empty()) facts.push_back(text);
    if (!device.capability.empty()) facts.push_back("compute capability " + device.capability);
    if (!device.driver.empty()) facts.push_back("driver for CUDA " + device.driver);
    if (!device.usable) facts.push_back("not usable: " + device.reason);
    if (device.name == "cpu")
        if (const auto text = bfloat16Text(); !text.empty()) facts.push_back(text);
    return facts;
}

void checkKernels(const DeviceInfo& device) {
    if (device.usable && device.kernelsProblem.empty()) checkedKernels(torch::Device(device.name));
}

kernels::KernelProblems kernelProblems(const DeviceInfo& device) {
    if (device.name == "cpu" || !device.usable) return {};
    return foundKernelProblems(indexOf(torch::Device(device.name)))
        .value_or(kernels::KernelProblems{});
}

std::vector<std::string> kernelTypes(const DeviceInfo& device,
                                     const kernels::KernelProblems& found) {
    std::vector<std::string> types;
    if (device.name == "cpu" || !device.kernelsProblem.empty()) return types;
    const bool tensorCores = std::atof(device.capability.c_str()) >= 8.0;
    if (tensorCores && found.tensor.empty()) types = {"bfloat16", "float16"};
    return types;
}

std::string attentionText(const DeviceInfo& device, const kernels::KernelProblems& found) {
    if (device.name == "cpu") return {};
    std::string problems = device.kernelsProblem;
    for (const auto& problem : {found.decoding, found.tensor})
        if (!problem.empty()) problems += (problems.empty() ? "" : "; ") + problem;
    // Tensor cores have kernels for few sizes.
    if (!kernelTypes(device, found).empty())
        return "attention by Relascope's kernels for 16 bits at some published sizes" +
               (problems.empty() ? "" : "; " + problems);
    if (device.kernelsProblem.empty() && found.tensor.empty())
        problems = "Relascope's kernels for it need compute capability 8.0 or newer" +
                   (problems.empty() ? "" : "; " + problems);
    return "attention by LibTorch: " + problems;
}

std::string attentionText(const DeviceInfo& device) {
    return attentionText(device, kernelProblems(device));
}

std::string graphsProblem(const DeviceInfo& device) {
    return device.name == "cpu" ? "" : graphLibrary().problem;
}

std::string stepsText(const DeviceInfo& device) {
    if (device.name == "cpu" || !device.usable) return {};
    const auto problem = graphsProblem(device);
    return problem.empty() ? "steps repeated as CUDA graphs" : "steps one by one: " + problem;
}

void requireMemory(const RunOptions& options, const std::string& device,
                   std::optional<Ranks> ranks) {
    const auto problem = memoryProblem(options, freeMemory(device), ranks);
    if (!problem.empty()) throw OptionError("train.batch_size", problem);
}

int threadCount() {
    return at::get_num_threads();
}

std::string torchVersion() {
    // The version of the library that runs; the macro is the version of the headers.
    const auto& built = caffe2::GetBuildOptions();
    const auto version = built.find("TORCH_VERSION");
    return "LibTorch " + (version == built.end() ? std::string(TORCH_VERSION) : version->second);
}

}  // namespace relascope::core
