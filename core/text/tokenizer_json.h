// SPDX-License-Identifier: GPL-3.0-or-later
// HuggingFace's tokenizer.json (formats.md section 7).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "text/tokenizer.h"

namespace relascope::core {

/// A tokenizer.json: a BPE model of bytes (behind the splitter ByteLevel) or of characters, or a
/// vocabulary of characters alone (no merges, an unk_token, no splitter). Everything else is an
/// error that names it. `path` is used in messages and as the name. Throws FileError naming the
/// field.
TokenizerPtr parseTokenizerJson(const std::string& text, const std::string& path);

/// The same from the parsed file, which `source` is the text of; `mergesPath` is named for merges.
TokenizerPtr tokenizerOf(const nlohmann::json& file, std::string source, const std::string& path,
                         const std::string& mergesPath);

/// A JSON object of a tokenizer's folder. Throws FileError for anything else, and for one that is
/// nested deeply.
nlohmann::json parsedJson(const std::string& text, const std::string& path);

/// The tokenizer as a tokenizer.json.
std::string tokenizerJson(const Tokenizer& tokenizer);

}  // namespace relascope::core
