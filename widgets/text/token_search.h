// SPDX-License-Identifier: GPL-3.0-or-later
// Finds words in a text of tokens, also where a word is cut into several of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relascope::widgets {

/// First and last token of a match.
using TokenRange = std::pair<int, int>;

/// All places of `text`, in order; upper and lower case of ASCII letters are the same. Spaces
/// before and after it count, so that " he" is the beginning of a word.
std::vector<TokenRange> findTokens(const std::vector<std::string>& pieces, std::string_view text);

}  // namespace relascope::widgets
