// SPDX-License-Identifier: GPL-3.0-or-later
// CRC-32 as in ZIP files (ISO 3309).
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>

namespace relascope::core {

/// Continues `crc` (0 at the start) over `size` bytes.
inline std::uint32_t crc32Of(std::uint32_t crc, const void* bytes, std::size_t size) {
    return static_cast<std::uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(bytes), size));
}

}  // namespace relascope::core
