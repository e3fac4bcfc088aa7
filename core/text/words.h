// SPDX-License-Identifier: GPL-3.0-or-later
// The words that GPT-2's tokenizer encodes separately (formats.md section 7).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "types/text_piece.h"

namespace relascope::core {

// Code points and UTF-8, and the letters that GPT-2 writes bytes with.

inline void appendUtf8(std::string& text, char32_t c) {
    const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
    if (c < 0x80) return put(c);
    if (c < 0x800)
        put(0xC0 | c >> 6);
    else if (c < 0x10000)
        put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63));
    else
        put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
}

/// Removes the first code point from `text` and returns it; removes one byte and returns nothing if
/// the text does not start with a valid character.
inline std::optional<char32_t> takeCharacter(std::string_view& text) {
    const std::size_t length = utf8Length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    char32_t c = length == 1 ? first : first & (0x7F >> length);
    for (std::size_t i = 1; i < length; ++i)
        c = c << 6 | (static_cast<unsigned char>(text[i]) & 63);
    text.remove_prefix(length == 0 ? 1 : length);
    return length == 0 ? std::nullopt : std::optional(c);
}

/// The length of `text` without an incomplete character at its end.
inline std::size_t wholeCharacters(std::string_view text) {
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if (byte < 0x80) break;
        if (byte < 0xC0) continue;
        const std::size_t needs = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
        return needs > back ? text.size() - back : text.size();
    }
    return text.size();
}

/// White_Space of the Unicode standard (PropList.txt), as in GPT-2's splitter.
inline bool isWhiteSpace(char32_t c) {
    return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

/// The character that ends a text; nothing without one.
std::optional<char32_t> lastCharacter(std::string_view text);
/// The number of bytes of white space at the end of a text, and at the beginning.
std::size_t spacesBefore(std::string_view text);
std::size_t spacesBehind(std::string_view text);

/// White space as the inside of a class of PCRE2, and the pattern of GPT-2's words.
const std::string& whiteSpaceClass();
const std::string& gpt2Pattern();

/// GPT-2's files write a byte as a visible character: itself if it is visible in Latin-1, otherwise
/// one from U+0100 on.
struct ByteLetters {
    std::array<char32_t, 256> letters{};
    std::array<int, 0x144> bytes{};  ///< the byte of a letter; -1 for none

    ByteLetters() {
        bytes.fill(-1);
        char32_t next = 0x100;
        for (int b = 0; b < 256; ++b) {
            const bool shown = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
            const char32_t letter = shown ? static_cast<char32_t>(b) : next++;
            letters[static_cast<std::size_t>(b)] = letter;
            bytes[letter] = b;
        }
    }
    static const ByteLetters& get() {
        static const ByteLetters all;
        return all;
    }
};

/// Bytes as written in GPT-2's files.
inline std::string spelledBytes(std::string_view bytes) {
    std::string text;
    for (const char c : bytes)
        appendUtf8(text, ByteLetters::get().letters[static_cast<unsigned char>(c)]);
    return text;
}

/// The inverse of spelledBytes(); nothing if a character stands for no byte.
inline std::optional<std::string> unspelledBytes(std::string_view text) {
    std::string bytes;
    while (!text.empty()) {
        const auto c = takeCharacter(text);
        if (!c || *c >= ByteLetters::get().bytes.size() || ByteLetters::get().bytes[*c] < 0)
            return std::nullopt;
        bytes += static_cast<char>(ByteLetters::get().bytes[*c]);
    }
    return bytes;
}

/// Iterates over the words of a text: letters, digits or other characters with the space before
/// them, contractions, and white space. Invalid bytes are separate words, so that all words joined
/// give the text.
class Words {
public:
    explicit Words(std::string_view text);
    ~Words();
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;

    /// Takes the next word; false at the end.
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
