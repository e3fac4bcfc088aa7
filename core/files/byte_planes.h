// SPDX-License-Identifier: GPL-3.0-or-later
// Lossless compression of 16-bit numbers that are similar to a base: the exclusive or of both, as a
// plane of the upper bytes and a plane of the lower ones, deflated (formats.md section 11).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace relascope::core {

/// Packs the numbers `values` (two bytes each, little-endian) against `base`, of the same length,
/// or against zeros if it is empty.
std::vector<std::uint8_t> packPlanes(std::span<const std::uint8_t> values,
                                     std::span<const std::uint8_t> base);

/// Unpacks in place: `values` holds the base (zeros without one) and becomes the values. False if
/// `packed` is not a complete stream of exactly so many numbers; `values` is then spoilt.
bool unpackPlanes(std::span<const std::uint8_t> packed, std::span<std::uint8_t> values);

/// The most bytes that a stream of `packed` bytes can hold, from the longest run of deflate.
constexpr std::uint64_t mostUnpacked(std::uint64_t packed) {
    return packed > (1ull << 50) ? ~0ull : packed * 1032 + 1032;
}

}  // namespace relascope::core
