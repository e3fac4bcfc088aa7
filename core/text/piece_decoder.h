// SPDX-License-Identifier: GPL-3.0-or-later
// What the decoder of a tokenizer.json makes of single tokens (formats.md section 18).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "text/split_pattern.h"

namespace relascope::core {

class PieceDecoder {
public:
    /// None for null; kinds that concern no single token, and unknown ones, change nothing. Throws
    /// FileError(path, ...) for a pattern that cannot be compiled.
    PieceDecoder(const nlohmann::json& decoder, const std::string& path);

    /// The text of a token: the first of a text, or any behind it.
    std::string text(std::string token, bool first) const;
    /// A decoded text loses one blank behind each of these texts: line ends.
    const std::vector<std::string>& blankTakenAfter() const { return m_blankTakenAfter; }

private:
    struct Step {
        enum class Kind { Replace, Metaspace, WordPiece, Strip, Bytes, Blank };
        Kind kind = Kind::Replace;
        std::string from = {}, to = {};
        std::optional<SplitPattern> pattern = {};
        bool cleanup = false;     ///< WordPiece: takes blanks before signs away
        bool whole = false;       ///< Strip: of a text, not of each token
        bool strips = true;       ///< Metaspace: the first token loses its marks
        int start = 0, stop = 0;  ///< Strip: at most so many
    };
    void add(const nlohmann::json& decoder, const std::string& path, bool& fused);

    std::vector<Step> m_steps;
    std::vector<std::string> m_blankTakenAfter;
};

}  // namespace relascope::core
