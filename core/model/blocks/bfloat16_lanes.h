// SPDX-License-Identifier: GPL-3.0-or-later
// One number of bfloat16, as its bits, to and from float32; for loops that the compiler vectorises.
#pragma once

#include <bit>
#include <cstdint>

namespace relascope::core {

inline __attribute__((always_inline)) float widenedBits(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
/// To nearest, ties to even; NaN stays NaN.
inline __attribute__((always_inline)) std::uint16_t narrowedBits(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FC0U : rounded);
}

}  // namespace relascope::core
