// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of librelascope_cuda.so: a table of its functions, by one symbol. Free of LibTorch
// and CUDA.
#pragma once

#include <cstddef>

#include "model/kernels/decode.h"
#include "model/kernels/rel_tensor.h"

namespace relascope::core::kernels {

/// Grows with every change of the table or of the arguments of its functions.
inline constexpr int kKernelTableVersion = 5;
/// The name of the library's symbol, a KernelTableFunction.
inline constexpr const char* kKernelTableSymbol = "relascope_kernels";
/// The least compute capability, 7.5 (Turing), which LibTorch's CUDA 13 asks for as well.
inline constexpr int kLeastMajor = 7, kLeastMinor = 5;

struct DeviceLimits {
    int major = 0, minor = 0;  ///< compute capability
    int multiprocessors = 0;
    std::size_t sharedBytes = 0;  ///< the most that a block may ask for
};

struct DeviceFacts {
    char name[256] = {};          ///< "NVIDIA H100 80GB HBM3"
    std::size_t memoryBytes = 0;  ///< in all
};

/// The functions that return int return a cudaError_t.
struct KernelTable {
    std::size_t bytes = sizeof(KernelTable), argumentBytes = sizeof(RelArgs);
    std::size_t decodeArgumentBytes = sizeof(DecodeArgs);

    int (*deviceCount)(int* count) = nullptr;
    int (*deviceLimits)(int device, DeviceLimits* limits) = nullptr;
    int (*deviceFacts)(int device, DeviceFacts* facts) = nullptr;
    /// Versions of CUDA: the newest that the driver serves, and the runtime's; 13000 is 13.0.
    int (*versions)(int* driver, int* runtime) = nullptr;

    decltype(&launchRelTensorForward) relTensorForward = nullptr;
    decltype(&launchRelTensorBackward) relTensorBackward = nullptr;
    decltype(&launchDecode) decode = nullptr;

    decltype(&relTensorWorkspaceBytes) tensorWorkspace = nullptr;
    decltype(&relTensorServes) tensorServes = nullptr, tensorServesBackward = nullptr;
    decltype(&decodeSharedBytes) decodeShared = nullptr;
    decltype(&decodeWorkspaceBytes) decodeWorkspace = nullptr;
    const char* (*errorText)(int error) = nullptr;
};

/// Returns the table; null for a version that the library does not have.
using KernelTableFunction = const KernelTable* (*)(int version);

}  // namespace relascope::core::kernels
