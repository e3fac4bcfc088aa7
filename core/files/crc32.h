// SPDX-License-Identifier: GPL-3.0-or-later
// CRC-32 of ZIP and zlib, with carry-less multiplication where the processor supports it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relascope::core {

/// Continues `crc` (0 at the start) over `size` bytes.
std::uint32_t crc32Of(std::uint32_t crc, const void* bytes, std::size_t size);

}  // namespace relascope::core
