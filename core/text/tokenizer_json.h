// SPDX-License-Identifier: GPL-3.0-or-later
// HuggingFace's tokenizer files: tokenizer.json, and the older pair vocab.json and merges.txt.
#pragma once

#include "text/tokenizer.h"

namespace relascope::core {

/// A tokenizer.json: a BPE model behind the ByteLevel splitter, or one of characters alone (no
/// merges, an unk_token, no splitter). Everything else is an error that names it. `path` is used in
/// messages and as the name. Throws FileError naming the field.
TokenizerPtr parseTokenizerJson(const std::string& text, const std::string& path);

/// A vocab.json and its merges, one pair on each line. Throws FileError naming file and line.
TokenizerPtr parseVocabulary(const std::string& vocabulary, const std::string& vocabularyPath,
                             const std::string& merges, const std::string& mergesPath);

/// The tokenizer as a tokenizer.json.
std::string tokenizerJson(const Tokenizer& tokenizer);

}  // namespace relascope::core
