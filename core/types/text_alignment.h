// SPDX-License-Identifier: GPL-3.0-or-later
// One text in the pieces of two tokenizers: which pieces of the two stand at the same place.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

struct TextAlignment {
    /// Pairs of a piece of the first and a piece of the second that end at the same character.
    std::vector<std::array<std::int64_t, 2>> ends;
    /// `first`: for each piece of the second, the piece of the first that holds its last character;
    /// `second`: the other way round. -1: the piece holds none of the text, or the other text ends
    /// before it.
    std::vector<int> first, second;
};

namespace alignment {

/// Where each piece ends, in bytes; -1 for one that stands before `begin`.
inline std::vector<std::int64_t> endsFrom(const std::vector<std::string>& pieces,
                                          std::size_t begin) {
    std::vector<std::int64_t> ends;
    std::size_t end = 0;
    for (const auto& piece : pieces) {
        end += piece.size();
        ends.push_back(end > begin ? static_cast<std::int64_t>(end - begin) : -1);
    }
    return ends;
}

/// For each of `ends` up to `most`, the piece of the other (with the ends `others`) that reaches
/// it; -1 where there is none.
inline std::vector<int> holders(const std::vector<std::int64_t>& ends,
                                const std::vector<std::int64_t>& others, std::int64_t most) {
    std::vector<int> found;
    for (const auto end : ends) {
        const auto at = std::lower_bound(others.begin(), others.end(), end);
        found.push_back(end < 0 || end > most || at == others.end()
                            ? -1
                            : static_cast<int>(at - others.begin()));
    }
    return found;
}

/// Where the common text begins in each, in bytes: a tokenizer may put a token of its own before
/// it, or a space.
inline std::array<std::size_t, 2> beginnings(const std::vector<std::string>& first,
                                             const std::vector<std::string>& second) {
    constexpr std::size_t enough = 256;  // equal bytes that settle it
    std::array<std::string, 2> texts;
    for (std::size_t k = 0; k < first.size() && texts[0].size() < 2 * enough; ++k)
        texts[0] += first[k];
    for (std::size_t k = 0; k < second.size() && texts[1].size() < 2 * enough; ++k)
        texts[1] += second[k];
    if (texts[0].empty() || texts[1].empty()) return {0, 0};
    // The beginnings with the longest agreement: further on a character may be in one text only.
    std::array<std::size_t, 2> best = {0, 0};
    std::size_t longest = 0;
    const auto consider = [&](std::size_t a, std::size_t b) {
        std::size_t count = 0;
        while (count < enough && a + count < texts[0].size() && b + count < texts[1].size() &&
               texts[0][a + count] == texts[1][b + count])
            ++count;
        if (count <= longest) return;
        longest = count;
        best = {a, b};
    };
    for (const std::size_t a : {std::size_t{0}, first.front().size()})
        for (const std::size_t b : {std::size_t{0}, second.front().size()}) {
            consider(a, b);
            if (texts[0].size() > a && texts[0][a] == ' ') consider(a + 1, b);
            if (texts[1].size() > b && texts[1][b] == ' ') consider(a, b + 1);
        }
    return best;
}

/// How many bytes from `begin` on are the same; the last character is whole.
inline std::int64_t agreement(const std::vector<std::string>& first,
                              const std::vector<std::string>& second,
                              const std::array<std::size_t, 2>& begin) {
    std::array<std::string, 2> texts;
    for (const auto& piece : first) texts[0] += piece;
    for (const auto& piece : second) texts[1] += piece;
    std::size_t count = 0;
    const auto at = [&](std::size_t side) { return begin[side] + count; };
    while (at(0) < texts[0].size() && at(1) < texts[1].size() && texts[0][at(0)] == texts[1][at(1)])
        ++count;
    // A character whose first bytes agree and a later one differs does not count.
    const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) >> 6) == 2; };
    const bool differ = at(0) < texts[0].size() && at(1) < texts[1].size();
    while (differ && count > 0 && (continues(texts[0][at(0)]) || continues(texts[1][at(1)])))
        --count;
    return static_cast<std::int64_t>(count);
}

}  // namespace alignment

/// Aligns the pieces of two tokenizers. Pieces are bytes; joined they give the text. The text after
/// the first byte that differs is not aligned: a tokenizer that does not know a character has
/// another one in its place.
inline TextAlignment alignTexts(const std::vector<std::string>& first,
                                const std::vector<std::string>& second) {
    const auto begin = alignment::beginnings(first, second);
    const auto ends = alignment::endsFrom(first, begin[0]),
               others = alignment::endsFrom(second, begin[1]);
    TextAlignment found;
    const auto most = alignment::agreement(first, second, begin);
    found.first = alignment::holders(others, ends, most);
    found.second = alignment::holders(ends, others, most);
    for (std::size_t k = 0, l = 0;
         k < ends.size() && l < others.size() && ends[k] <= most && others[l] <= most;) {
        // A piece without bytes does not count: the one before it ends at the same place.
        if (ends[k] < 0 || (k > 0 && ends[k] == ends[k - 1]) || ends[k] < others[l])
            ++k;
        else if (others[l] < 0 || (l > 0 && others[l] == others[l - 1]) || others[l] < ends[k])
            ++l;
        else
            found.ends.push_back({static_cast<std::int64_t>(k++), static_cast<std::int64_t>(l++)});
    }
    return found;
}

}  // namespace relascope
