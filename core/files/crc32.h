// SPDX-License-Identifier: GPL-3.0-or-later
// CRC-32 as ZIP and zlib have it, at the speed of memory where the processor can.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relascope::core {

/// Goes on from `crc` (0 at the start) over `size` bytes.
std::uint32_t crc32Of(std::uint32_t crc, const void* bytes, std::size_t size);

}  // namespace relascope::core
