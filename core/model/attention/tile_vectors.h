// SPDX-License-Identifier: GPL-3.0-or-later
// Vector arithmetic for tile_kernels_body.h, compiled once for each vector width. Everything has
// internal linkage: the linker must not mix functions compiled for different processors.
#pragma once

#ifndef RELASCOPE_LANES
#error "define RELASCOPE_LANES: floats in one vector register"
#endif

#include <cstdint>

#include "model/attention/counter_mix.h"

namespace relascope::core {
namespace {

#define RELASCOPE_INLINE inline __attribute__((always_inline))

constexpr int kLanes = RELASCOPE_LANES;
// Widths are padded with zeros to whole vectors of any width.
constexpr std::int64_t kPad = 16;

typedef float Lanes __attribute__((vector_size(4 * RELASCOPE_LANES)));
typedef std::int32_t Ints __attribute__((vector_size(4 * RELASCOPE_LANES)));
typedef std::uint32_t Words __attribute__((vector_size(4 * RELASCOPE_LANES)));

RELASCOPE_INLINE std::int64_t padded(std::int64_t width) {
    return (width + kPad - 1) / kPad * kPad;
}
// The distance of rows of that width: an odd number of vectors, for rows at a multiple of a large
// power of two share few places of a cache.
RELASCOPE_INLINE std::int64_t spaced(std::int64_t width) {
    return padded(width) | kPad;
}
RELASCOPE_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
}
RELASCOPE_INLINE std::int64_t larger(std::int64_t a, std::int64_t b) {
    return a > b ? a : b;
}

RELASCOPE_INLINE Lanes load(const float* from) {
    Lanes x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
}
RELASCOPE_INLINE void store(float* to, Lanes x) {
    __builtin_memcpy(to, &x, sizeof x);
}
RELASCOPE_INLINE Lanes all(float x) {
    return x - Lanes{};
}
// x with the lanes i and i ^ step exchanged.
template <int step>
RELASCOPE_INLINE Lanes exchanged(Lanes x) {
    Ints from;
    for (int i = 0; i < kLanes; ++i) from[i] = i ^ step;
    return __builtin_shuffle(x, from);
}
template <int step = kLanes / 2>
RELASCOPE_INLINE float sum(Lanes x) {
    const Lanes pairs = x + exchanged<step>(x);
    if constexpr (step > 1)
        return sum<step / 2>(pairs);
    else
        return pairs[0];
}
template <int step = kLanes / 2>
RELASCOPE_INLINE float largest(Lanes x) {
    const Lanes other = exchanged<step>(x), most = other > x ? other : x;
    if constexpr (step > 1)
        return largest<step / 2>(most);
    else
        return most[0];
}

// e^x within 2 units in the last place; 0 below -87 and at least e^-87's size above: no denormals.
RELASCOPE_INLINE Lanes exponential(Lanes x) {
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: the sum has no room for a fraction
    const Lanes bounded = x > 88.0f ? all(88.0f) : x;
    const Lanes shifted = bounded * 1.44269504f + kRound;
    const Lanes whole = shifted - kRound;
    const Lanes r = (bounded - whole * 0.693359375f) + whole * 2.12194440e-4f;
    Lanes y = all(1.0f / 5040);
    y = y * r + 1.0f / 720;
    y = y * r + 1.0f / 120;
    y = y * r + 1.0f / 24;
    y = y * r + 1.0f / 6;
    y = y * r + 0.5f;
    y = y * r + 1.0f;
    y = y * r + 1.0f;
    // The integer is in the low bits of `shifted`: moved to the exponent's place it multiplies by
    // 2^whole.
    const Lanes scaled = (Lanes)((Words)y + ((Words)shifted << 23));
    return x < -87.0f ? Lanes{} : scaled;
}
RELASCOPE_INLINE Lanes logistic(Lanes x) {
    return 1.0f / (1.0f + exponential(-x));
}

RELASCOPE_INLINE Words lanesFrom(std::uint32_t first) {
    Words x;
    for (int i = 0; i < kLanes; ++i) x[i] = first + static_cast<std::uint32_t>(i);
    return x;
}

// A matrix whose element (row, inner) is p[row * rows + inner * inners].
struct Strided {
    const float* p;
    std::int64_t rows, inners;
};

// c (+)= by a b for R rows and V vectors of columns, summed in registers.
template <int R, int V>
RELASCOPE_INLINE void multiplyBlock(Strided a, const float* b, std::int64_t bRow, float* c,
                                    std::int64_t cRow, std::int64_t inner, float by, bool adds) {
    Lanes total[R][V] = {};
    for (std::int64_t i = 0; i < inner; ++i) {
        Lanes column[V];
        for (int v = 0; v < V; ++v) column[v] = load(b + i * bRow + v * kLanes);
        for (int r = 0; r < R; ++r) {
            const Lanes x = all(a.p[r * a.rows + i * a.inners]);
            for (int v = 0; v < V; ++v) total[r][v] += x * column[v];
        }
    }
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < V; ++v) {
            float* to = c + r * cRow + v * kLanes;
            store(to, adds ? load(to) + by * total[r][v] : by * total[r][v]);
        }
}

template <int R, int V>
void multiplyColumns(Strided a, std::int64_t rows, const float* b, std::int64_t bRow, float* c,
                     std::int64_t cRow, std::int64_t inner, float by, bool adds) {
    std::int64_t row = 0;
    for (; row + R <= rows; row += R)
        multiplyBlock<R, V>({a.p + row * a.rows, a.rows, a.inners}, b, bRow, c + row * cRow, cRow,
                            inner, by, adds);
    for (; row + 2 <= rows; row += 2)
        multiplyBlock<2, V>({a.p + row * a.rows, a.rows, a.inners}, b, bRow, c + row * cRow, cRow,
                            inner, by, adds);
    for (; row < rows; ++row)
        multiplyBlock<1, V>({a.p + row * a.rows, a.rows, a.inners}, b, bRow, c + row * cRow, cRow,
                            inner, by, adds);
}

// c (+)= by a b: c [rows, columns], b [inner, columns]; columns is a multiple of kPad. As many sums
// at once as the registers hold: 32 of AVX-512, 16 of the others.
inline void multiply(Strided a, std::int64_t rows, const float* b, std::int64_t bRow, float* c,
                     std::int64_t cRow, std::int64_t columns, std::int64_t inner, float by,
                     bool adds) {
    constexpr int kWide = kLanes == 16 ? 4 : 2, kWideRows = kLanes == 16 ? 6 : 5;
    // So many rows of b's columns stay in the first cache for all rows of a.
    constexpr std::int64_t kInner = 128;
    for (; inner > kInner + kInner / 2; inner -= kInner) {
        multiply(a, rows, b, bRow, c, cRow, columns, kInner, by, adds);
        a.p += kInner * a.inners, b += kInner * bRow, adds = true;
    }
    std::int64_t v = 0;
    for (; v + kWide * kLanes <= columns; v += kWide * kLanes)
        multiplyColumns<kWideRows, kWide>(a, rows, b + v, bRow, c + v, cRow, inner, by, adds);
    for (; kWide > 2 && v + 2 * kLanes <= columns; v += 2 * kLanes)
        multiplyColumns<10, 2>(a, rows, b + v, bRow, c + v, cRow, inner, by, adds);
    for (; v + kLanes <= columns; v += kLanes)
        multiplyColumns<10, 1>(a, rows, b + v, bRow, c + v, cRow, inner, by, adds);
}

inline float dot(const float* a, const float* b, std::int64_t count) {
    Lanes x = {}, y = {};
    std::int64_t i = 0;
    for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
        x += load(a + i) * load(b + i);
        y += load(a + i + kLanes) * load(b + i + kLanes);
    }
    for (; i < count; i += kLanes) x += load(a + i) * load(b + i);
    return sum(x + y);
}
// y += by x
RELASCOPE_INLINE void addScaled(float* y, const float* x, float by, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kLanes) store(y + i, load(y + i) + by * load(x + i));
}

}  // namespace
}  // namespace relascope::core
