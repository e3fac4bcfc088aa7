// SPDX-License-Identifier: GPL-3.0-or-later
// Sixteen numbers at once of rows of float32 or bfloat16, for kernels that are compiled for several
// vector widths (tile_levels.h). Private to .cpp files.
#pragma once

#include <cstdint>
#include <cstring>

#define RELASCOPE_INLINE inline __attribute__((always_inline))

namespace relascope::core {
namespace {

// Sixteen lanes: one AVX-512 register, two of AVX2, four of SSE.
typedef float Lanes __attribute__((vector_size(64)));
typedef std::uint32_t Words __attribute__((vector_size(64)));
constexpr std::int64_t kLanes = 16;
RELASCOPE_INLINE void load(const float* from, Lanes& lanes) {
    std::memcpy(&lanes, from, sizeof lanes);
}
RELASCOPE_INLINE void store(float* to, const Lanes& lanes) {
    std::memcpy(to, &lanes, sizeof lanes);
}
// Numbers of float32, or of bfloat16 as their bits: one of the two pointers.
struct Numbers {
    float* floats = nullptr;
    std::uint16_t* halves = nullptr;
    explicit operator bool() const { return floats || halves; }
};
typedef std::uint16_t HalfWords __attribute__((vector_size(32)));
// Load and store through the pointer that is known to be set.
template <bool half>
RELASCOPE_INLINE void loadAs(const Numbers& from, std::int64_t at, Lanes& lanes) {
    if constexpr (half) {
        HalfWords words;
        std::memcpy(&words, from.halves + at, sizeof words);
        lanes = (Lanes)(__builtin_convertvector(words, Words) << 16);
    } else {
        load(from.floats + at, lanes);
    }
}
template <bool half>
RELASCOPE_INLINE void storeAs(const Numbers& to, std::int64_t at, const Lanes& lanes) {
    if constexpr (half) {
        const Words bits = (Words)lanes, rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
        const Words notANumber = Words{} + 0x7FC0U;
        const HalfWords words = __builtin_convertvector(
            (bits & 0x7FFFFFFFU) > 0x7F800000U ? notANumber : rounded, HalfWords);
        std::memcpy(to.halves + at, &words, sizeof words);
    } else {
        store(to.floats + at, lanes);
    }
}
RELASCOPE_INLINE void load(const Numbers& from, std::int64_t at, Lanes& lanes) {
    from.floats ? loadAs<false>(from, at, lanes) : loadAs<true>(from, at, lanes);
}
RELASCOPE_INLINE void store(const Numbers& to, std::int64_t at, const Lanes& lanes) {
    to.floats ? storeAs<false>(to, at, lanes) : storeAs<true>(to, at, lanes);
}
RELASCOPE_INLINE float total(const Lanes& lanes) {
    float sum = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
    return sum;
}

// e^x within 2 units in the last place for x <= 0, and 0 below -87.
RELASCOPE_INLINE void exponentials(Lanes& x) {
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: the sum has no room for a fraction
    const Lanes shifted = x * 1.44269504f + kRound, whole = shifted - kRound;
    const Lanes r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    Lanes y = Lanes{} + 1.0f / 5040;
    y = y * r + 1.0f / 720;
    y = y * r + 1.0f / 120;
    y = y * r + 1.0f / 24;
    y = y * r + 1.0f / 6;
    y = y * r + 0.5f;
    y = y * r + 1.0f;
    y = y * r + 1.0f;
    // The integer is in the low bits of `shifted`: moved to the exponent's place it multiplies by
    // 2^whole. Other bits of a NaN are none.
    const Lanes scaled = (Lanes)((Words)y + ((Words)shifted << 23));
    const Lanes bounded = x < -87.0f ? Lanes{} : scaled;
    x = x == x ? bounded : x;
}

// The counter-based generator of dropout.cpp, for the cells from `first` on.
struct Mask {
    std::uint32_t low = 0, high = 0, threshold = 0;
    float scale = 1.0f;
};
RELASCOPE_INLINE void mixWords(Words& x) {
    x ^= x >> 16;
    x *= 0x21f0aaadU;
    x ^= x >> 15;
    x *= 0xd35a2d97U;
    x ^= x >> 15;
}
RELASCOPE_INLINE void drop(const Mask& mask, std::int64_t first, Lanes& x) {
    if (mask.threshold == 0) return;
    Words random = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    random += static_cast<std::uint32_t>(first) + mask.low;
    mixWords(random);
    random ^= mask.high;
    mixWords(random);
    const Lanes kept = x * mask.scale, none = {};
    x = random >= mask.threshold ? kept : none;
}
inline Mask maskOf(double p, std::int64_t seed) {
    Mask mask;
    if (p <= 0.0) return mask;
    const auto bits = static_cast<std::uint64_t>(seed);
    mask.low = static_cast<std::uint32_t>(bits), mask.high = static_cast<std::uint32_t>(bits >> 32);
    mask.threshold = static_cast<std::uint32_t>(p * 4294967296.0);
    mask.scale = static_cast<float>(1.0 / (1.0 - p));
    return mask;
}

}  // namespace
}  // namespace relascope::core
