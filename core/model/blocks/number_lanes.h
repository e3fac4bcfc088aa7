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
RELASCOPE_INLINE void load(const Numbers& from, std::int64_t at, Lanes& lanes) {
    if (from.floats) return load(from.floats + at, lanes);
    HalfWords half;
    std::memcpy(&half, from.halves + at, sizeof half);
    lanes = (Lanes)(__builtin_convertvector(half, Words) << 16);
}
RELASCOPE_INLINE void store(const Numbers& to, std::int64_t at, const Lanes& lanes) {
    if (to.floats) return store(to.floats + at, lanes);
    const Words bits = (Words)lanes, rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const Words notANumber = Words{} + 0x7FC0U;
    const HalfWords half = __builtin_convertvector(
        (bits & 0x7FFFFFFFU) > 0x7F800000U ? notANumber : rounded, HalfWords);
    std::memcpy(to.halves + at, &half, sizeof half);
}
RELASCOPE_INLINE float total(const Lanes& lanes) {
    float sum = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
    return sum;
}

}  // namespace
}  // namespace relascope::core
