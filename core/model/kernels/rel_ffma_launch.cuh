// SPDX-License-Identifier: GPL-3.0-or-later
// Starts of the FFMA kernels, shared by their two source files.
#pragma once

#include "model/kernels/rel_args.h"
#include "model/kernels/rel_ffma_tiles.cuh"
#include "model/kernels/rel_launch.cuh"

namespace relascope::core::kernels {

/// Numbers in shared memory of the backward kernels.
struct RelBackwardNumbers {
    std::size_t rows, columns, library;
};
RelBackwardNumbers relBackwardNumbers(const RelArgs& args);

/// Starts the kernel of the tensors' type. An empty grid has nothing to do.
inline cudaError_t launchRel(const RelArgs& x, void (*narrow)(RelArgs), void (*wide)(RelArgs),
                             dim3 grid, std::size_t bytes, void* stream) {
    const bool isWide = x.type == DataType::Float64;
    if (!isConsistent(x) || !(isWide || x.type == DataType::Float32)) return cudaErrorInvalidValue;
    if (grid.x == 0 || grid.y == 0) return cudaSuccess;
    const auto kernel = isWide ? wide : narrow;
    if (!kernel) return cudaErrorInvalidValue;
    if (const auto error = allowSharedBytes(kernel, bytes); error != cudaSuccess) return error;
    LAUNCH(kernel, grid, kThreads, bytes, stream, x);
    return cudaGetLastError();
}

}  // namespace relascope::core::kernels
