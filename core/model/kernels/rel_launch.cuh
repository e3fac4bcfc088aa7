// SPDX-License-Identifier: GPL-3.0-or-later
// Checks and sizes that the launches of all kernels of relational attention share.
#pragma once

#include "model/kernels/platform.cuh"
#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

inline unsigned tiles(int count, int size) {
    return static_cast<unsigned>((count + size - 1) / size);
}

/// Sizes and options that contradict nothing; the type of the tensors is not looked at.
inline bool isConsistent(const RelArgs& x) {
    return x.batch >= 0 && x.queries >= 0 && x.keys > 0 && x.first >= 0 && x.heads > 0 &&
           x.keyHeads > 0 && x.heads % x.keyHeads == 0 && x.keyDim > 0 && x.valueDim > 0 &&
           x.relations >= 0 && (x.relations == 0 || x.relDim > 0) && x.dropThreshold < 65536 &&
           static_cast<int>(x.activation) >= 0 && x.activation <= Activation::Silu;
}

/// Lets blocks of a kernel have so much dynamic shared memory. Beyond what every kernel has, that
/// is all of the device's: with less, another thread's call could take it away before the launch.
template <class Kernel>
cudaError_t allowSharedBytes(Kernel* kernel, std::size_t bytes) {
    constexpr std::size_t always = 48 * 1024;
    if (bytes <= always) return cudaSuccess;
    int device = 0, most = 0;
    auto error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess && bytes > static_cast<std::size_t>(most))
        return cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (error != cudaSuccess) cudaGetLastError();  // nobody else is to find it
    return error;
}

}  // namespace relascope::core::kernels
