// SPDX-License-Identifier: GPL-3.0-or-later
// Files that stand where another was expected, by their first bytes, and JSON as other programs
// write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace relascope::core {

/// The kind of a file by its first 512 bytes, and the way out, as the end of a sentence that begins
/// with its path: "is a Git LFS pointer, not the file itself; ..." (also web pages, GGUF, ONNX,
/// HDF5, compressed files, NumPy arrays, pictures). Empty for other files.
std::string foreignContent(std::string_view start);

/// The end of such a sentence for text in the place of `wanted` ("weights"), as servers answer
/// instead of a file: "is text and no weights: 'Entry not found'; download the file again". `start`
/// are the first bytes; empty where they are no text.
std::string textInPlaceOf(const std::string& wanted, std::string_view start);

/// Throws FileError for a link to a missing file: a file of a cache that was never fetched, or was
/// removed.
void requireTarget(const std::string& path);

/// The text of a JSON file as a standard parser takes it: without a byte order mark, and with
/// Python's NaN, Infinity and -Infinity as strings, so that a key that needs a number refuses them.
/// Throws FileError for a file that cannot be read or that foreignContent() names.
std::string readJsonText(const std::string& path, std::uint64_t limit = 64u << 20);

}  // namespace relascope::core
