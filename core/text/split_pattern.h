// SPDX-License-Identifier: GPL-3.0-or-later
// Regular expressions that divide a text, written as for Oniguruma, which HuggingFace's
// `tokenizers` uses, and matched by PCRE2 (formats.md section 7).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace relascope::core {

/// Called with the parts of a text in order.
using TakeText = std::function<void(std::string_view part)>;

/// The treatment of the matches of a pattern, by the names of the published format.
enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// A regular expression that divides texts. Immutable, for all threads. Takes any bytes.
class SplitPattern {
public:
    /// `pattern` as Oniguruma reads it by default: \s, \w and \b of Unicode, `^` and `$` at every
    /// line. `invert`: what lies between the matches counts as the matches. Throws FileError(file,
    /// ...) with the pattern where it cannot be compiled or PCRE2 would read it otherwise.
    SplitPattern(std::string pattern, std::string file,
                 SplitBehavior behavior = SplitBehavior::Isolated, bool invert = false);
    /// A key that differs between patterns that divide differently.
    std::string key() const;
    /// Gives the parts of a text, without empty ones. Throws FileError for a text that the pattern
    /// takes too many steps for.
    void split(std::string_view text, const TakeText& take) const;
    /// Gives all of the text: the matches, of which some may be empty, and the text between them.
    void forEach(std::string_view text,
                 const std::function<void(std::string_view part, bool match)>& take) const;
    /// The text with `by` in place of every match. Throws FileError, too, where that is longer than
    /// `most` bytes.
    std::string replaced(std::string_view text, std::string_view by, std::size_t most) const;

private:
    std::string m_pattern, m_file;
    SplitBehavior m_behavior;
    bool m_invert;
    std::shared_ptr<const void> m_code;
};

/// The most bytes that a text of `bytes` bytes may get where matches are replaced.
constexpr std::size_t longestChanged(std::size_t bytes) {
    return 64 * bytes + (std::size_t{1} << 20);
}

/// The pattern that matches this text alone; an empty text matches everywhere.
std::string literalPattern(std::string_view text);

}  // namespace relascope::core
