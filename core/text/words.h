// SPDX-License-Identifier: GPL-3.0-or-later
// The words that GPT-2's tokenizer looks at one by one (formats.md section 7).
#pragma once

#include <string_view>

namespace relascope::core {

/// Goes through the words of a text: letters, digits or other marks with the space before them,
/// contractions, and white space. Bytes that are no character come out as words of their own, so
/// that all words joined are the text.
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
    std::size_t m_at = 0, m_matchEnd = 0;  // a match behind bytes that are no character waits
    void* m_match;
};

/// The largest n such that the words of text[0, n) and of text[n, end) are those of the text,
/// whatever follows it; 0 when there is none. With `spacesOnly`, text[n] is a space.
std::size_t lastWordCut(std::string_view text, bool spacesOnly);

}  // namespace relascope::core
