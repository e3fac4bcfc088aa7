// SPDX-License-Identifier: GPL-3.0-or-later
// The 85 symbols of mathematics questions (formats.md 6): 0 stands for nothing, then blank, some
// punctuation, digits, capital and small letters.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace relascope::datasets::mathematics {

inline constexpr std::size_t kMostQuestion = 160, kMostAnswer = 30;  ///< characters

inline constexpr std::string_view kSymbols =
    " !'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz{}";
inline constexpr std::int64_t kVocabulary = static_cast<std::int64_t>(kSymbols.size()) + 1;
static_assert(kVocabulary == 85);

/// The token of a character; -1 if it is not one of the symbols.
constexpr std::int64_t tokenOf(char c) {
    const auto at = kSymbols.find(c);
    return at == std::string_view::npos ? -1 : static_cast<std::int64_t>(at) + 1;
}
inline constexpr std::int64_t kPadding = 0, kEnd = tokenOf(';'), kStart = tokenOf('@');

}  // namespace relascope::datasets::mathematics
