// SPDX-License-Identifier: GPL-3.0-or-later
// CUDA as far as our kernels use it, on the CPU and for tests: the threads of a block are fibers
// that change only at barriers and warp operations, blocks run one after another. Unlike a GPU it
// finds misuse (HostMisuse below). tests/kernels/host_cuda.cpp defines what is declared here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>

// CUDA's own names, and a type in a macro.
// NOLINTBEGIN(bugprone-reserved-identifier, bugprone-macro-parentheses)
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
// No __shared__ and no __constant__: kernels use dynamic shared memory only, since a variable of a
// block would become one of the program here.

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
extern dim3 gridDim, blockDim, blockIdx, threadIdx;
constexpr int warpSize = 32;

using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorInvalidConfiguration = 9;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr {
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

namespace relascope::core::kernels {

using Where = std::source_location;

/// A defect of a kernel: a barrier that only some threads reach, threads that wait at different
/// barriers, a warp operation that only some of its lanes reach, a shuffle from a lane that takes
/// no part, writing beyond the shared memory. Thrown by LAUNCH, with file and line.
struct HostMisuse : std::logic_error {
    using std::logic_error::logic_error;
};

/// Which thread of a block, and which block, runs first; see Scheduler::runReady. Results that
/// depend on it are a race.
enum class HostOrder { Forward, Backward, Shuffled };

struct HostDevice {
    HostOrder order = HostOrder::Forward;
    /// Bytes of shared memory that a block can have: 227 KiB on an H100.
    std::size_t sharedLimit = 232448;
    int computeCapability = 90;  ///< 10 major + minor
};
HostDevice& hostDevice();

/// Runs a kernel. A launch with more than 48 KiB needs the attribute first, as on a GPU; launches
/// that do not fit are reported by cudaGetLastError. Shared memory starts as NaN.
void hostLaunch(const void* kernel, dim3 grid, dim3 threads, std::size_t bytes,
                const std::function<void()>& thread);
cudaError_t hostSetSharedBytes(const void* kernel, int bytes);
void* hostSharedMemory();
std::size_t hostSharedBytes();
void hostBarrier(const Where& where);

/// One lane's part in a warp operation; `in` and `out` are null for lanes outside the mask.
struct HostLane {
    const void* in = nullptr;
    void* out = nullptr;
};
/// Waits for all lanes of the mask; the last one to arrive calls run(lanes), which writes all the
/// results.
void hostWarpOperation(unsigned mask, HostLane own, const std::function<void(const HostLane*)>& run,
                       const Where& where);
/// Copies happen as late as they may, when they are waited for: reads before find NaN, or older
/// numbers. Throws HostMisuse for addresses that are not on 16 bytes or outside shared memory.
void hostCopyAsync(void* shared, const void* global, int bytes, const Where& where);
void hostCommitCopies();
void hostWaitForCopies(int groups);
[[noreturn]] void hostMisuse(const std::string& what, const Where& where);

/// A lane's value and the lane that it reads.
template <class T>
struct HostShuffle {
    T value;
    int source;
};
template <class T>
T hostShuffle(unsigned mask, T value, int source, const Where& where) {
    const HostShuffle<T> in{value, source};
    T out{};
    hostWarpOperation(
        mask, {&in, &out},
        [&](const HostLane* lanes) {
            for (int i = 0; i < warpSize; ++i) {
                if (!lanes[i].in) continue;
                const int from = static_cast<const HostShuffle<T>*>(lanes[i].in)->source;
                if (!lanes[from].in) hostMisuse("a shuffle from a lane that takes no part", where);
                *static_cast<T*>(lanes[i].out) =
                    static_cast<const HostShuffle<T>*>(lanes[from].in)->value;
            }
        },
        where);
    return out;
}
inline int hostLaneIndex() {
    return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) %
                            warpSize);
}

}  // namespace relascope::core::kernels

#define LAUNCH(kernel, grid, threads, bytes, stream, ...)                                       \
    (static_cast<void>(stream),                                                                 \
     relascope::core::kernels::hostLaunch(reinterpret_cast<const void*>(kernel), grid, threads, \
                                          bytes, [&] { kernel(__VA_ARGS__); }))
#define DYNAMIC_SHARED(T, name) \
    T* const name = static_cast<T*>(relascope::core::kernels::hostSharedMemory())

using cudaStream_t = void*;
inline cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
/// The error of the last launch or attribute, which is then forgotten.
cudaError_t cudaGetLastError();
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int bytes) {
    return relascope::core::kernels::hostSetSharedBytes(reinterpret_cast<const void*>(kernel),
                                                        bytes);
}

inline void __syncthreads(
    relascope::core::kernels::Where where = relascope::core::kernels::Where::current()) {
    relascope::core::kernels::hostBarrier(where);
}
inline void __syncwarp(
    unsigned mask = 0xffffffffu,
    relascope::core::kernels::Where where = relascope::core::kernels::Where::current()) {
    relascope::core::kernels::hostWarpOperation(
        mask, {&mask, nullptr}, [](const auto*) {}, where);
}

// Lanes read within their group of `width`; beyond its end they keep their own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
              relascope::core::kernels::Where where = relascope::core::kernels::Where::current()) {
    const int group = relascope::core::kernels::hostLaneIndex() & ~(width - 1);
    return relascope::core::kernels::hostShuffle(mask, value, group | (source & (width - 1)),
                                                 where);
}
template <class T>
T __shfl_xor_sync(
    unsigned mask, T value, int bits, int width = warpSize,
    relascope::core::kernels::Where where = relascope::core::kernels::Where::current()) {
    const int lane = relascope::core::kernels::hostLaneIndex(), source = lane ^ bits;
    const bool beyond = source >= (lane & ~(width - 1)) + width;
    return relascope::core::kernels::hostShuffle(mask, value, beyond ? lane : source, where);
}
template <class T>
T __shfl_down_sync(
    unsigned mask, T value, unsigned delta, int width = warpSize,
    relascope::core::kernels::Where where = relascope::core::kernels::Where::current()) {
    const int lane = relascope::core::kernels::hostLaneIndex();
    const int source = lane + static_cast<int>(delta);
    const bool beyond = source >= (lane & ~(width - 1)) + width;
    return relascope::core::kernels::hostShuffle(mask, value, beyond ? lane : source, where);
}
template <class T>
T __shfl_up_sync(
    unsigned mask, T value, unsigned delta, int width = warpSize,
    relascope::core::kernels::Where where = relascope::core::kernels::Where::current()) {
    const int lane = relascope::core::kernels::hostLaneIndex();
    const int source = lane - static_cast<int>(delta);
    return relascope::core::kernels::hostShuffle(
        mask, value, source < (lane & ~(width - 1)) ? lane : source, where);
}

// Fibers change nowhere else, so that plain code is atomic.
template <class T>
T atomicAdd(T* to, T value) {
    const T before = *to;
    *to = before + value;
    return before;
}

using std::max;
using std::min;
inline unsigned __float_as_uint(float x) {
    unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
// NOLINTEND(bugprone-reserved-identifier, bugprone-macro-parentheses)
