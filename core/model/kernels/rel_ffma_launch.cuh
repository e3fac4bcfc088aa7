// SPDX-License-Identifier: GPL-3.0-or-later
// How the FFMA kernels are started, and what their two source files share.
#pragma once

#include "model/kernels/rel_args.h"
#include "model/kernels/rel_ffma_tiles.cuh"

namespace relascope::core::kernels {

/// Numbers in shared memory of the backward kernels.
struct RelBackwardNumbers {
    std::size_t rows, columns, library;
};
RelBackwardNumbers relBackwardNumbers(const RelArgs& args);

inline unsigned tiles(int count, int size) {
    return static_cast<unsigned>((count + size - 1) / size);
}

inline bool isConsistent(const RelArgs& x) {
    return x.batch >= 0 && x.queries >= 0 && x.keys > 0 && x.first >= 0 && x.heads > 0 &&
           x.keyHeads > 0 && x.heads % x.keyHeads == 0 && x.keyDim > 0 && x.valueDim > 0 &&
           x.relations >= 0 && (x.relations == 0 || x.relDim > 0) && x.maxOffset >= -1 &&
           x.dropThreshold < 65536 &&
           (x.type == DataType::Float32 || x.type == DataType::Float64) &&
           static_cast<int>(x.activation) >= 0 && x.activation <= Activation::Silu;
}

// Devices compute in float32 only, and are spared the other kernels.
#if defined(__CUDACC__)
#define KERNELS(kernel) kernel<float>, nullptr
#else
#define KERNELS(kernel) kernel<float>, kernel<double>
#endif

/// Starts the kernel of the tensors' type. An empty grid has nothing to do.
inline cudaError_t launchRel(const RelArgs& x, void (*narrow)(RelArgs), void (*wide)(RelArgs),
                             dim3 grid, std::size_t bytes, void* stream) {
    if (!isConsistent(x)) return cudaErrorInvalidValue;
    if (grid.x == 0 || grid.y == 0) return cudaSuccess;
    const auto kernel = x.type == DataType::Float64 ? wide : narrow;
    if (!kernel) return cudaErrorInvalidValue;
    if (const auto error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(bytes));
        error != cudaSuccess) {
        cudaGetLastError();  // nobody else is to find it
        return error;
    }
    LAUNCH(kernel, grid, kThreads, bytes, stream, x);
    return cudaGetLastError();
}

}  // namespace relascope::core::kernels
