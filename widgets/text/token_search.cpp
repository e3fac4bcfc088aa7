// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/text/token_search.h"

#include <algorithm>

namespace relascope::widgets {
namespace {

std::string folded(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

}  // namespace

std::vector<TokenRange> findTokens(const std::vector<std::string>& pieces, std::string_view text) {
    std::vector<TokenRange> found;
    const std::string wanted = folded(text);
    if (wanted.empty()) return found;
    std::string whole;
    std::vector<std::size_t> ends;  // of the tokens
    for (const std::string& piece : pieces) {
        whole += folded(piece);
        ends.push_back(whole.size());
    }
    const auto tokenAt = [&](std::size_t byte) {
        return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), byte) - ends.begin());
    };
    for (std::size_t at = whole.find(wanted); at != std::string::npos;
         at = whole.find(wanted, at + 1)) {
        const TokenRange range{tokenAt(at), tokenAt(at + wanted.size() - 1)};
        if (found.empty() || found.back() != range) found.push_back(range);
    }
    return found;
}

}  // namespace relascope::widgets
