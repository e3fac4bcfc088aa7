// SPDX-License-Identifier: GPL-3.0-or-later
// The one symbol of librelascope_cuda.so; the program does not contain this file.
#include <cuda_runtime_api.h>

#include <string_view>
#include <utility>

#include "model/kernels/launches.h"

namespace relascope::core::kernels {
namespace {

int deviceCount(int* count) {
    return cudaGetDeviceCount(count);
}

/// The error, which LibTorch would otherwise take for one of its own.
int taken(cudaError_t error) {
    if (error != cudaSuccess) (void)cudaGetLastError();
    return error;
}

int deviceLimits(int device, DeviceLimits* limits) {
    // Attributes one by one: they do not create a context, which takes memory of every device.
    int shared = 0;
    const std::pair<cudaDeviceAttr, int*> wanted[] = {
        {cudaDevAttrComputeCapabilityMajor, &limits->major},
        {cudaDevAttrComputeCapabilityMinor, &limits->minor},
        {cudaDevAttrMultiProcessorCount, &limits->multiprocessors},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, &shared}};
    for (const auto& [attribute, value] : wanted)
        if (const auto error = cudaDeviceGetAttribute(value, attribute, device);
            error != cudaSuccess)
            return error;
    limits->sharedBytes = static_cast<std::size_t>(shared);
    return cudaSuccess;
}

int deviceFacts(int device, DeviceFacts* facts) {
    cudaDeviceProp properties{};
    if (const int error = taken(cudaGetDeviceProperties(&properties, device)); error != cudaSuccess)
        return error;
    std::string_view(properties.name).copy(facts->name, sizeof facts->name - 1);
    facts->memoryBytes = properties.totalGlobalMem;
    return cudaSuccess;
}

int versions(int* driver, int* runtime) {
    const int error = taken(cudaDriverGetVersion(driver));
    return error != cudaSuccess ? error : taken(cudaRuntimeGetVersion(runtime));
}

const char* errorText(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

constexpr KernelTable wholeTable() {
    KernelTable table = tableOfLaunches(deviceCount, deviceLimits, errorText);
    table.deviceFacts = deviceFacts;
    table.versions = versions;
    return table;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const KernelTable* relascope_kernels(
    int version) {
    static constexpr KernelTable table = wholeTable();
    return version == kKernelTableVersion ? &table : nullptr;
}

}  // namespace relascope::core::kernels
