// SPDX-License-Identifier: GPL-3.0-or-later
// Lossless compression of 16-bit numbers that are like those of a base: the exclusive or of both,
// as the plane of the upper bytes and that of the lower ones, deflated (formats.md section 11).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace relascope::core {

/// The numbers `values` (two bytes each, little-endian) against `base`, of the same length, or
/// against zeros if it is empty.
std::vector<std::uint8_t> packPlanes(std::span<const std::uint8_t> values,
                                     std::span<const std::uint8_t> base);

/// Turns the base into the values, in place: zeros where there is none. False if `packed` is not a
/// whole stream of exactly so many numbers; `values` is then spoilt.
bool unpackPlanes(std::span<const std::uint8_t> packed, std::span<std::uint8_t> values);

/// No stream of that many bytes holds more: the longest run that deflate has, a bit and a half.
constexpr std::uint64_t mostUnpacked(std::uint64_t packed) {
    return packed > (1ull << 50) ? ~0ull : packed * 1032 + 1032;
}

}  // namespace relascope::core
