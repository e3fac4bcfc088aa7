// SPDX-License-Identifier: GPL-3.0-or-later
// The platform of kernels: CUDA, compiled by nvcc, or its stand-in on the CPU, by a C++ compiler.
#pragma once

#if defined(__CUDACC__)

#include <cuda_runtime.h>

/// Starts kernel(arguments...). `bytes` of shared memory belong to each block.
#define LAUNCH(kernel, grid, threads, bytes, stream, ...) \
    kernel<<<grid, threads, bytes, static_cast<cudaStream_t>(stream)>>>(__VA_ARGS__)
/// `name` points to the block's shared memory. A function uses it once.
#define DYNAMIC_SHARED(T, name)                                       \
    extern __shared__ __align__(128) unsigned char relascopeShared[]; \
    T* const name = reinterpret_cast<T*>(relascopeShared)

#else

#include "model/kernels/host_cuda.h"

#endif
