// SPDX-License-Identifier: GPL-3.0-or-later
// The header of a .npy array (formats.md section 4; NumPy's NEP 1). Without torch and libzip, so
// that it can be fuzzed alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "types/error.h"

namespace relascope::core {

struct NpyHeader {
    char kind = 'u';    ///< u, i, f or b
    int itemBytes = 1;  ///< 1, 2, 4 or 8
    bool bigEndian = false;
    std::vector<std::int64_t> shape;
    std::size_t headerBytes = 0;  ///< magic, length and dict: where the data begin

    /// Product of the shape; checked against overflow when parsed.
    std::uint64_t elements() const;
    std::uint64_t dataBytes() const { return elements() * static_cast<std::uint64_t>(itemBytes); }
};

/// The size of the header in bytes, from the first 12 bytes; 0 if more bytes are needed. Throws
/// FileError for anything that is not .npy or has a header of more than 64 KiB.
std::size_t npyHeaderLength(std::span<const std::uint8_t> start, const std::string& path);

/// Parses a whole header. `path` (file and member) is for the message. Throws FileError naming the
/// field.
NpyHeader parseNpyHeader(std::span<const std::uint8_t> bytes, const std::string& path);

/// The header NumPy would write for a little-endian array, padded to 64 bytes.
std::string makeNpyHeader(const std::string& descr, const std::vector<std::int64_t>& shape);

}  // namespace relascope::core
