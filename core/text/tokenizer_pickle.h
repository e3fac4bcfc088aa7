// SPDX-License-Identifier: GPL-3.0-or-later
// nanochat's tokenizer.pkl (formats.md section 7).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace relascope::core {

inline constexpr const char* kTokenizerPickle = "tokenizer.pkl";

/// Reads a pickled tokenizer of tiktoken: nothing in it is imported or called. Throws FileError.
TokenizerPtr openTokenizerPickle(const std::string& path);
/// Parses the bytes of such a file; `path` is used in messages and as the name.
TokenizerPtr parseTokenizerPickle(std::vector<std::uint8_t> bytes, const std::string& path);

/// The tokenizer.pkl of weights in a folder: in it, or where nanochat keeps it, in ../../tokenizer;
/// empty without one.
std::string tokenizerPickleBeside(const std::string& folder);
/// Copies the tokenizer.pkl that weights have, if they have one, to a folder.
void copyTokenizerOfRanks(const std::string& weights, const std::string& folder);

}  // namespace relascope::core
