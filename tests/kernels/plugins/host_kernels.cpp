// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA kernels compiled for the CPU as a library like librelascope_cuda.so, for tests of what
// calls them (CpuKernelsScope of cuda_attention.h).
#include "model/kernels/launches.h"
#include "model/kernels/platform.cuh"

namespace relascope::core::kernels {
namespace {

int deviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}

int deviceLimits(int, DeviceLimits* limits) {
    *limits = {9, 0, 132, hostDevice().sharedLimit};
    return cudaSuccess;
}

const char* errorText(int) {
    return "refused by the stand-in";
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const KernelTable* relascope_kernels(
    int version) {
    static constexpr KernelTable table = tableOfLaunches(deviceCount, deviceLimits, errorText);
    return version == kKernelTableVersion ? &table : nullptr;
}

}  // namespace relascope::core::kernels
