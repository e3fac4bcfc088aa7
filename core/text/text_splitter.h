// SPDX-License-Identifier: GPL-3.0-or-later
// How a tokenizer.json divides a text before its pieces are encoded: tokens that were added to the
// vocabulary, NFC, and patterns one after another (formats.md section 7).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace relascope::core {

/// Called with the parts of a text in order, which joined give the text.
using TakeText = std::function<void(std::string_view part)>;

/// A regular expression whose matches are parts of their own, as is what lies between them.
/// Immutable, for all threads.
class SplitPattern {
public:
    /// `pattern` as PCRE2 reads it, with \s as White_Space of Unicode. Throws FileError(file, ...)
    /// with the pattern where it cannot be compiled.
    SplitPattern(std::string pattern, std::string file);
    const std::string& pattern() const { return m_pattern; }
    /// Takes any bytes. Throws FileError for a text that the pattern takes too many steps for.
    void split(std::string_view text, const TakeText& take) const;

private:
    std::string m_pattern, m_file;
    std::shared_ptr<const void> m_code;
};

/// A token that is found in a text as it stands.
struct AddedToken {
    std::string text;
    std::int32_t id = 0;
    bool special = false;     ///< found in typed texts only
    bool leftStrip = false;   ///< takes the white space before it along
    bool rightStrip = false;  ///< and that behind it
    bool singleWord = false;  ///< only where no letter or digit is beside it
    bool normalized = false;  ///< found after the text was normalized
};

/// Finds added tokens: the leftmost first, of several there the longest.
class AddedTokens {
public:
    AddedTokens() = default;
    explicit AddedTokens(std::vector<AddedToken> tokens);
    bool empty() const { return m_tokens.empty(); }
    const std::vector<AddedToken>& tokens() const { return m_tokens; }
    /// Gives the ids of those with this `normalized`, and the texts between them. `special`: those
    /// that are special, too.
    void split(std::string_view text, bool normalized, bool special, const TakeText& take,
               const std::function<void(std::int32_t id)>& found) const;

private:
    std::vector<AddedToken> m_tokens;  ///< longest first
    std::array<std::vector<std::size_t>, 256> m_byFirst;
};

/// The text in Unicode's normalization form C; bytes that are not UTF-8 stay.
std::string normalizedNfc(std::string_view text);

}  // namespace relascope::core
