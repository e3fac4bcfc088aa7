// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and words as text for files, shells and messages. The locale plays no part.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "types/text_piece.h"

namespace relascope {

/// The shortest text that reads back as the same number; "nan", "inf" or "-inf" where it is none.
inline std::string shortestText(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// shortestText() for a field of CSV: nothing for NaN, and no sign before 0.
inline std::string shortestField(double value) {
    return std::isnan(value) ? "" : shortestText(value == 0.0 ? 0.0 : value);
}
/// A number with `digits` digits after the point; nothing for NaN.
inline std::string fixedField(double value, int digits) {
    if (std::isnan(value)) return {};
    char text[400];
    return {text,
            std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr};
}

/// The words, joined by `between`.
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

/// An integer with separators of thousands: "12,345".
inline std::string groupedNumber(std::int64_t number) {
    std::string text = std::to_string(number);
    for (int at = static_cast<int>(text.size()) - 3; at > (number < 0); at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

/// A duration for people: "12 s", "2 min", "1 h 5 min", in seconds below a minute, else in minutes.
/// A dash for a number that is no duration.
inline std::string roughDuration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "\u2014";
    if (seconds < 59.5) return std::to_string(std::llround(seconds)) + " s";
    const auto minutes = std::llround(seconds / 60.0);
    if (minutes < 60) return std::to_string(minutes) + " min";
    const std::string hours = std::to_string(minutes / 60) + " h";
    return minutes % 60 == 0 ? hours : hours + " " + std::to_string(minutes % 60) + " min";
}

/// A number in the `format` of printf.
inline std::string numberText(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// A number for people: `digits` digits after the point, a true minus sign if negative; or "NaN".
inline std::string numberWithMinus(double value, int digits) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "\u2212\u221e" : "\u221e";
    return (value < 0 ? "\u2212" : "") + fixedField(std::abs(value), digits);
}

/// The text without spaces, tabs and line ends at both ends.
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

/// A field of CSV (RFC 4180): in double quotes where a reader would divide it or strip it; line
/// ends, tabs and what commands a terminal as escapes (plainName()).
inline std::string csvField(std::string_view name) {
    auto text = plainName(name);
    const bool bare = text.find_first_of(",\"") == std::string::npos && !text.starts_with(' ') &&
                      !text.ends_with(' ');
    if (bare) return text;
    std::string field = "\"";
    for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + '"';
}

/// Text in a table or a comment of LaTeX: every character is shown as it is, and none at its start
/// is taken for an argument of the "\\" before it.
inline std::string latexText(std::string_view name) {
    std::string escaped;
    char before = 0;
    for (const char c : plainName(name)) {
        // Two of these are one sign of another kind.
        if (c == before && std::string_view("-`',").find(c) != std::string_view::npos)
            escaped += "{}";
        if (std::string_view("_%&#${}").find(c) != std::string_view::npos)
            escaped += std::string("\\") + c;
        else if (c == '\\' || c == '~' || c == '^' || c == '<' || c == '>' || c == '|')
            escaped += c == '\\'  ? "\\textbackslash{}"
                       : c == '~' ? "\\textasciitilde{}"
                       : c == '^' ? "\\textasciicircum{}"
                       : c == '<' ? "\\textless{}"
                       : c == '>' ? "\\textgreater{}"
                                  : "\\textbar{}";
        else if (before == 0 && (c == '[' || c == '*'))
            escaped += std::string("{") + c + "}";
        else
            escaped += c;
        before = c;
    }
    return escaped;
}

}  // namespace relascope
