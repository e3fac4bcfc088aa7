// SPDX-License-Identifier: GPL-3.0-or-later
// How a tokenizer.json divides a text before its pieces are encoded: tokens that were added to the
// vocabulary, then the steps of its pre_tokenizer (formats.md section 7).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/split_pattern.h"

namespace relascope::core {

/// A token that is found in a text as it stands.
struct AddedToken {
    std::string text;
    std::int32_t id = 0;
    bool special = false;     ///< found in typed texts only
    bool leftStrip = false;   ///< includes the white space before it
    bool rightStrip = false;  ///< includes the white space behind it
    bool singleWord = false;  ///< only where no letter or digit is beside it
    bool normalized = false;  ///< found after the text was normalized; so is `text`
};

/// Finds added tokens: the leftmost first, of several there the longest.
class AddedTokens {
public:
    AddedTokens() = default;
    explicit AddedTokens(std::vector<AddedToken> tokens);
    bool empty() const { return m_tokens.empty(); }
    const std::vector<AddedToken>& tokens() const { return m_tokens; }
    bool has(std::int32_t id) const {
        return std::any_of(m_tokens.begin(), m_tokens.end(),
                           [id](const AddedToken& token) { return token.id == id; });
    }
    /// Finds the tokens with this `normalized`: gives their ids, and the texts between them.
    /// `special`: also finds special tokens.
    void split(std::string_view text, bool normalized, bool special, const TakeText& take,
               const std::function<void(std::int32_t id)>& found) const;

private:
    std::vector<AddedToken> m_tokens;  ///< longest first
    std::array<std::vector<std::size_t>, 256> m_byFirst;
};

/// One step: its work on every part that the step before gave.
struct SplitStep {
    enum class Kind {
        Pattern,  ///< divides it
        Prefix,   ///< puts `text` before one that does not begin with it
        Replace,  ///< replaces the matches by `text`
        Spell     ///< writes its bytes in GPT-2's letters, for steps behind it
    };
    Kind kind = Kind::Pattern;
    std::optional<SplitPattern> pattern = {};
    std::string text = {};
    bool first = false;  ///< a Prefix applies only to the beginning of a text
};

class TextSplitter {
public:
    TextSplitter() = default;
    explicit TextSplitter(std::vector<SplitStep> steps) : m_steps(std::move(steps)) {}
    bool empty() const { return m_steps.empty(); }
    /// Divides a text. `begins`: this is the beginning of a text, before any added token. Throws
    /// FileError for a text that a pattern takes too many steps for.
    void split(std::string_view text, bool begins, const TakeText& take) const;
    /// A string for each step; they differ between splitters that divide differently.
    std::vector<std::string> keys() const;

private:
    void splitFrom(std::size_t step, std::string_view text, bool begins,
                   const TakeText& take) const;

    std::vector<SplitStep> m_steps;
};

}  // namespace relascope::core
