// SPDX-License-Identifier: GPL-3.0-or-later
// The tokenizer that the files of a folder describe together (formats.md section 7).
#pragma once

#include <optional>
#include <string>

#include "text/tokenizer.h"

namespace relascope::core {

/// The texts of the files that are there, each with its path.
struct TokenizerFolder {
    struct File {
        std::string path, text;
    };
    std::optional<File> tokenizer;           ///< tokenizer.json, or the next two, or the third
    std::optional<File> vocabulary, merges;  ///< vocab.json and merges.txt
    std::optional<File> lines;               ///< vocab.txt of WordPiece
    std::optional<File> settings;            ///< tokenizer_config.json
    std::optional<File> specialTokens;       ///< special_tokens_map.json
    std::optional<File> addedTokens;         ///< added_tokens.json
    std::optional<File> model;               ///< config.json
};

/// The tokenizer as the library transformers reads that folder. Its name is the path of
/// tokenizer.json, vocab.json or vocab.txt. Throws FileError naming file, field and value for
/// settings that are not supported.
TokenizerPtr tokenizerOf(const TokenizerFolder& folder);

}  // namespace relascope::core
