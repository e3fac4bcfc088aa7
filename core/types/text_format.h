// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and words as text for files, shells and messages. The locale plays no part.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace relascope {

/// The shortest text that reads back as the same number; "nan", "inf" or "-inf" where it is none.
inline std::string shortestText(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// The words, with `between` between two.
template <class Words>
std::string joined(const Words& words, std::string_view between = ", ") {
    std::string text;
    bool first = true;
    for (const auto& word : words) {
        if (!first) text += between;
        text += word;
        first = false;
    }
    return text;
}

/// Without spaces, tabs and line ends at both ends.
inline std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// A word in single quotes, for any shell of POSIX.
inline std::string shellWord(std::string_view text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

/// A field of CSV (RFC 4180): in double quotes where a reader would divide it or strip it.
inline std::string csvField(std::string_view text) {
    const bool bare = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                      !text.starts_with(' ') && !text.ends_with(' ');
    if (bare) return std::string(text);
    std::string field = "\"";
    for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + '"';
}

/// Text in a table of LaTeX.
inline std::string latexText(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (std::string_view("_%&#").find(c) != std::string_view::npos) escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace relascope
