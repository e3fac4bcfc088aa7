// SPDX-License-Identifier: GPL-3.0-or-later
// The one symbol of librelascope_cuda.so; the program does not contain this file.
#include <cuda_runtime_api.h>

#include <utility>

#include "model/kernels/kernel_table.h"

namespace relascope::core::kernels {
namespace {

int deviceCount(int* count) {
    return cudaGetDeviceCount(count);
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

const char* errorText(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const KernelTable* relascope_kernels(
    int version) {
    static constexpr KernelTable table = {
        .deviceCount = deviceCount,
        .deviceLimits = deviceLimits,
        .relForward = launchRelForward,
        .relDelta = launchRelDelta,
        .relBackwardRows = launchRelBackwardRows,
        .relBackwardColumns = launchRelBackwardColumns,
        .relBackwardLibrary = launchRelBackwardLibrary,
        .relBackward = launchRelBackward,
        .maps = launchMaps,
        .relShared = relSharedBytes,
        .mapWorkspace = mapWorkspaceBytes,
        .errorText = errorText,
    };
    return version == kKernelTableVersion ? &table : nullptr;
}

}  // namespace relascope::core::kernels
