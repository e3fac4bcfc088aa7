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

/// The tokenizer of a parsed file, whose text is `source`; errors of merges name `mergesPath`.
TokenizerPtr tokenizerOf(const nlohmann::json& file, std::string source, const std::string& path,
                         const std::string& mergesPath);

/// A JSON object of a tokenizer's folder. Throws FileError for anything else, and for one that is
/// nested deeply.
nlohmann::json parsedJson(const std::string& text, const std::string& path);

/// The tokenizer as a tokenizer.json.
std::string tokenizerJson(const Tokenizer& tokenizer);

/// The id that `tokenizers` gives a token that is not in a vocabulary of `pieces` pieces, whatever
/// id a file gives it; `most` is the largest id of the added tokens before it, -1 without any.
std::int64_t nextAddedId(std::int64_t pieces, std::int64_t most);
/// Why an added id other than `next` is refused, as the end of a sentence.
std::string otherId(std::int64_t next);

}  // namespace relascope::core
