// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the kernels of relational attention: rows of tensors, sums over lanes, activations and
// dropout masks.
#pragma once

#include <math.h>

#include "model/kernels/platform.cuh"
#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

constexpr unsigned kAllLanes = 0xffffffffu;

template <class T>
__device__ inline T* rowOf(const View& view, int b, int token, int head) {
    return static_cast<T*>(view.data) + b * view.batch + token * view.token + head * view.head;
}

/// The element of lse and delta [batch, heads, queries].
__device__ inline std::int64_t rowIndex(const RelArgs& x, int b, int head, int query) {
    return (static_cast<std::int64_t>(b) * x.heads + head) * x.queries + query;
}

template <class T>
__device__ inline T dot(const T* x, const T* y, int width) {
    T sum = 0;
    for (int c = 0; c < width; ++c) sum += x[c] * y[c];
    return sum;
}

__device__ inline float exponential(float x) {
    return expf(x);
}
__device__ inline double exponential(double x) {
    return exp(x);
}
__device__ inline float hyperbolicTangent(float x) {
    return tanhf(x);
}
__device__ inline double hyperbolicTangent(double x) {
    return tanh(x);
}
template <class T>
__device__ inline T logistic(T x) {
    return T(1) / (T(1) + exponential(-x));
}

/// The sum over each group of `Lanes` neighbouring lanes, known to all of them.
template <int Lanes, class T>
__device__ inline T laneSum(T x) {
    for (int step = Lanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(kAllLanes, x, step);
    return x;
}
template <int Lanes, class T>
__device__ inline T laneMax(T x) {
    for (int step = Lanes / 2; step > 0; step /= 2) {
        const T other = __shfl_xor_sync(kAllLanes, x, step);
        x = other > x ? other : x;
    }
    return x;
}

template <class T>
__device__ inline T activated(Activation kind, T u) {
    switch (kind) {
        case Activation::Relu:
            return u > T(0) ? u : T(0);
        case Activation::Sigmoid:
            return logistic(u);
        case Activation::Tanh:
            return hyperbolicTangent(u);
        case Activation::Gelu:  // u (1 + tanh v) / 2 = u logistic(2 v)
            return u * logistic(u * (T(1.5957691216057308) + T(0.07135481627260025) * u * u));
        case Activation::Silu:
            return u * logistic(u);
        default:
            return u;
    }
}

/// The derivative of `activated`.
template <class T>
__device__ inline T slopeOf(Activation kind, T u) {
    switch (kind) {
        case Activation::Relu:
            return u > T(0) ? T(1) : T(0);
        case Activation::Sigmoid: {
            const T y = logistic(u);
            return y * (T(1) - y);
        }
        case Activation::Tanh: {
            const T y = hyperbolicTangent(u);
            return T(1) - y * y;
        }
        case Activation::Gelu: {
            const T y = logistic(u * (T(1.5957691216057308) + T(0.07135481627260025) * u * u));
            const T inner = T(1.5957691216057308) + T(0.21406444881780076) * u * u;
            return y + u * y * (T(1) - y) * inner;
        }
        case Activation::Silu: {
            const T y = logistic(u);
            return y + u * y * (T(1) - y);
        }
        default:
            return T(1);
    }
}

struct PhiloxKey {
    std::uint64_t seed, offset;
};

__device__ inline PhiloxKey keyOf(const Philox& state) {
    if (!state.captured) return {state.seedValue, state.offsetValue};
    return {static_cast<std::uint64_t>(*state.seed),
            static_cast<std::uint64_t>(*state.offset) + state.within};
}

struct PhiloxWords {
    std::uint32_t x, y, z, w;
};

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
__device__ inline PhiloxWords philox(PhiloxWords counter, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53u} * counter.x;
        const std::uint64_t second = std::uint64_t{0xCD9E8D57u} * counter.z;
        counter = {static_cast<std::uint32_t>(second >> 32) ^ counter.y ^ key0,
                   static_cast<std::uint32_t>(second),
                   static_cast<std::uint32_t>(first >> 32) ^ counter.w ^ key1,
                   static_cast<std::uint32_t>(first)};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

/// The random bits of eight cells of a row (rowIndex), 16 for each: for column c these are the keys
/// 32 (c / 4) + 2 (c % 4) + {0, 1} + {0, 8, 16, 24}, which one lane holds in the fragments of the
/// tensor cores. They depend on nothing but the cell, so that every tiling and the backward pass
/// find the same mask. Bits of a row number beyond 32 change the key.
__device__ inline PhiloxWords dropoutWords(PhiloxKey key, std::int64_t row, std::uint32_t column) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto number = static_cast<std::uint64_t>(row);
    return philox({low(key.offset), low(key.offset >> 32), low(number), column}, low(key.seed),
                  low(key.seed >> 32) ^ low(number >> 32));
}

}  // namespace relascope::core::kernels
