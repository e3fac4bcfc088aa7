// SPDX-License-Identifier: GPL-3.0-or-later
// A fast check whether stored numbers are finite.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace relascope::core {

/// False if `bytes` (whole elements) contain an infinite or NaN value; true for integer types.
bool allFinite(std::string_view dtype, std::span<const std::uint8_t> bytes);

}  // namespace relascope::core
