// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/devices.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <cstdlib>
#include <thread>

#include "files/memory.h"
#include "model/kernels/plugin.h"
#include "options/estimates.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

std::string& cudaProblem() {
    static std::string problem = "the CUDA libraries of LibTorch were not searched";
    return problem;
}

}  // namespace

void initDevices(int threads) {
    at::set_num_threads(threads > 0
                            ? threads
                            : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    // Bit-exact resume on CUDA requires this before the first CUDA call; it has no effect without
    // CUDA.
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL)) {
        cudaProblem().clear();
        return;
    }
    const char* reason = dlerror();
    const std::string text = reason ? reason : "";
    cudaProblem() = text.find("libtorch_cuda.so: cannot open") != std::string::npos
                        ? "LibTorch is installed without CUDA; on a machine with an NVIDIA GPU, "
                          "app/setup.sh installs it"
                        : "the CUDA libraries of LibTorch cannot be loaded (" + text +
                              "); on a machine with an NVIDIA GPU, app/setup.sh installs them";
}

const std::vector<DeviceInfo>& devices() {
    static const std::vector<DeviceInfo> list = [] {
        std::vector<DeviceInfo> all = {{"cpu",
                                        "CPU, " + std::to_string(threadCount()) +
                                            (threadCount() == 1 ? " thread" : " threads"),
                                        true, "", ""}};
        std::string problem = cudaProblem();
        try {
            if (problem.empty() && !torch::cuda::is_available())
                problem =
                    "no CUDA device was found; an NVIDIA GPU with driver 580 or newer is needed";
            if (problem.empty()) {
                for (int i = 0; i < static_cast<int>(torch::cuda::device_count()); ++i)
                    all.push_back({"cuda:" + std::to_string(i), "NVIDIA GPU " + std::to_string(i),
                                   true, "", kernels::kernelsProblem(i)});
            }
        } catch (const std::exception& error) {
            problem = std::string("CUDA cannot be initialised: ") + error.what();
        }
        if (!problem.empty())
            all.push_back({"cuda", "CUDA", false, problem.substr(0, problem.find('\n')),
                           kernels::kernelsProblem()});
        return all;
    }();
    return list;
}

std::string resolveDevice(const std::string& wanted) {
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

std::uint64_t freeMemory(const std::string& device) {
    const torch::Device where(device);
    if (where.is_cuda()) {
        try {
            return at::accelerator::getMemoryInfo(where.has_index() ? where.index()
                                                                    : c10::DeviceIndex(0))
                .first;
        } catch (const std::exception&) {
            return 0;
        }
    }
    return availableMemory();
}

void requireMemory(const RunOptions& options, const std::string& device) {
    const auto problem = memoryProblem(options, freeMemory(device));
    if (!problem.empty()) throw OptionError("train.batch_size", problem);
}

int threadCount() {
    return at::get_num_threads();
}

std::string torchVersion() {
    return "LibTorch " TORCH_VERSION;
}

}  // namespace relascope::core
