// SPDX-License-Identifier: GPL-3.0-or-later
// Whether stored numbers are finite, at the speed of memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace relascope::core {

/// False when a floating-point number among `bytes` (whole elements) is infinite or no
/// number; true for dtypes without such.
bool allFinite(std::string_view dtype, std::span<const std::uint8_t> bytes);

}  // namespace relascope::core
