// SPDX-License-Identifier: GPL-3.0-or-later
// A piece of text as it is displayed. Tokens of a byte-level vocabulary may be parts of a character
// or any other bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace relascope {

/// Length of the UTF-8 sequence at the start of `text`; 0 if it is incomplete or invalid.
inline std::size_t utf8Length(std::string_view text) {
    if (text.empty()) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    // Overlong forms, surrogates and values above U+10FFFF are invalid.
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
        (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F))
        return 0;
    return length;
}

inline bool isUtf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// Whether a character commands a terminal or a line of text instead of being shown: controls (C1
/// as well, U+0080 to U+009F), line and paragraph separators, and the marks that reverse the order
/// of what follows (U+200E, U+200F, U+061C, U+202A to U+202E, U+2066 to U+2069).
inline bool isControl(std::uint32_t character) {
    return character < 0x20 || (character >= 0x7F && character < 0xA0) || character == 0x061C ||
           character == 0x200E || character == 0x200F ||
           (character >= 0x2028 && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x2069);
}

/// The text with controls as escapes that JSON has too ("\\u001B"), so that no name or sentence of
/// a file commands a terminal or turns its words around; line ends and tabs stay.
inline std::string withoutControls(std::string_view text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto byte = [&](std::size_t i) {
            return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
        };
        const std::size_t valid = utf8Length(text), length = std::max<std::size_t>(1, valid);
        const std::uint32_t character =
            valid == 2   ? (byte(0) & 31) << 6 | (byte(1) & 63)
            : valid == 3 ? (byte(0) & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63)
            : valid == 1 ? byte(0)
                         : ' ';
        if (text[0] == '\n' || text[0] == '\t' || !isControl(character)) {
            out += text.substr(0, length);
        } else {
            out += "\\u";
            for (const int shift : {12, 8, 4, 0}) out += digits[character >> shift & 15];
        }
        text.remove_prefix(length);
    }
    return out;
}

/// The bytes at the end of `text` that are the start of a character which withoutControls() may
/// replace: written apart from the rest, they would pass.
inline std::size_t halfControl(std::string_view text) {
    for (const std::string_view half : {"\xe2\x80", "\xe2\x81", "\xe2", "\xc2", "\xd8"})
        if (text.ends_with(half)) return half.size();
    return 0;
}

/// A name or a sentence on one line.
inline std::string plainName(std::string_view name) {
    auto text = withoutControls(name);
    for (std::size_t at = 0; (at = text.find_first_of("\n\t", at)) != std::string::npos;)
        text.replace(at, 1, text[at] == '\n' ? "\\n" : "\\t");
    return text;
}

/// How a token is displayed.
struct PieceText {
    std::string text;  ///< valid UTF-8; "F0 9F" when `hex`, "\\n" for a line end
    bool hex = false;  ///< the piece is not a whole character and is shown as its bytes
    bool operator==(const PieceText&) const = default;
};

/// Bytes that are valid UTF-8 as they are, with line ends, tabs and other control characters made
/// visible ("\\n", "\\t", "\\x00"); anything else as hexadecimal bytes.
inline PieceText pieceText(std::string_view bytes) {
    static constexpr char digits[] = "0123456789ABCDEF";
    PieceText out;
    if (!isUtf8(bytes)) {
        out.hex = true;
        for (const char c : bytes) {
            if (!out.text.empty()) out.text += ' ';
            out.text += digits[static_cast<unsigned char>(c) >> 4];
            out.text += digits[static_cast<unsigned char>(c) & 15];
        }
        return out;
    }
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n')
            out.text += "\\n";
        else if (c == '\t')
            out.text += "\\t";
        else if (c == '\r')
            out.text += "\\r";
        else if (byte < 0x20 || byte == 0x7F)
            out.text += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
        else
            out.text += c;
    }
    out.text = withoutControls(out.text);  // controls of several bytes
    return out;
}

/// Valid UTF-8 for any bytes: invalid ones become U+FFFD.
inline std::string validUtf8(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        const std::size_t length = utf8Length(bytes);
        if (length == 0)
            out += "\xEF\xBF\xBD", bytes.remove_prefix(1);
        else
            out.append(bytes.substr(0, length)), bytes.remove_prefix(length);
    }
    return out;
}

/// Characters of a text, cut or filled to `width`: a cell of a table on a terminal.
inline std::string cellText(const std::string& text, std::size_t width, bool right = false) {
    std::string shown;
    std::size_t count = 0;
    for (std::string_view rest = text; !rest.empty() && count < width; ++count) {
        const auto length = std::max<std::size_t>(1, utf8Length(rest));
        shown += rest.substr(0, length);
        rest.remove_prefix(length);
    }
    const std::string space(width - count, ' ');
    return right ? space + shown : shown + space;
}

/// A name in quotation marks, so that the spaces of tokens are seen, without control sequences.
inline std::string quoted(const std::string& name) {
    return "'" + pieceText(name).text + "'";
}

/// The message for a token that a model has no row for; an empty piece is not named.
inline std::string outsideVocabulary(std::int64_t id, std::string_view piece, std::int64_t size) {
    return "token " + std::to_string(id) +
           (piece.empty() ? "" : " (" + quoted(std::string(piece)) + ")") +
           " is outside the vocabulary of " + std::to_string(size);
}

/// A bar of `width` characters for a share of 1; none for shares below 0 and for NaN.
inline std::string barText(char mark, double share, int width) {
    const double length = share > 0 ? std::round(width * std::min(share, 1.0)) : 0.0;
    return std::string(static_cast<std::size_t>(length), mark);
}

/// A name from a file for a message: at most 200 bytes, ASCII without control characters.
inline std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 200));
    for (auto& c : shown)
        if (c < 32 || c > 126) c = '?';
    return shown;
}

}  // namespace relascope
