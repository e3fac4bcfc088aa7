// SPDX-License-Identifier: GPL-3.0-or-later
// The words that GPT-2's tokenizer encodes separately (formats.md section 7).
#pragma once

#include <string_view>

namespace relascope::core {

/// Iterates over the words of a text: letters, digits or other characters with the space before
/// them, contractions, and white space. Invalid bytes are separate words, so that all words joined
/// give the text.
class Words {
public:
    explicit Words(std::string_view text);
    ~Words();
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;

    /// False at the end.
    bool next(std::string_view& word);

private:
    std::string_view m_text;
    std::size_t m_at = 0, m_matchEnd = 0;  // a match after invalid bytes is pending
    void* m_match;
};

/// The largest n such that the words of text[0, n) and of text[n, end) are those of the text, for
/// every continuation; 0 if there is none. With `spacesOnly`, text[n] is a space.
std::size_t lastWordCut(std::string_view text, bool spacesOnly);

}  // namespace relascope::core
