// SPDX-License-Identifier: GPL-3.0-or-later
// Decodes the bytes of a tensor to numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace relascope::core {

/// Whether a dtype can be decoded: false for complex numbers and numbers of less than a byte.
bool hasNumbers(std::string_view dtype);

/// Decodes little-endian `bytes`, a whole number of elements of a dtype with numbers; `out` is as
/// long as there are elements. 64-bit integers are rounded to the nearest double.
void decodeNumbers(std::string_view dtype, std::span<const std::uint8_t> bytes,
                   std::span<double> out);

// A fast check whether stored numbers are finite.

/// False if `bytes` (whole elements) contain an infinite or NaN value; true for integer types.
bool allFinite(std::string_view dtype, std::span<const std::uint8_t> bytes);

}  // namespace relascope::core
