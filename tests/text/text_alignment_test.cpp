// SPDX-License-Identifier: GPL-3.0-or-later
// Two divisions of one text, and tokens of a text in another tokenizer.
#include "types/text_alignment.h"

#include <gtest/gtest.h>

#include <random>

#include "data/text_tokens.h"
#include "text/tokenizer.h"

namespace relascope {
namespace {

using Pieces = std::vector<std::string>;
using Ends = std::vector<std::array<std::int64_t, 2>>;

TEST(TextAlignment, TokensThatEndAtTheSameCharacterAndThoseThatHoldIt) {
    const auto found = alignTexts(Pieces{"the", " cat", " sat"}, Pieces{"t", "he", " ca", "t sat"});
    EXPECT_EQ(found.ends, (Ends{{0, 1}, {2, 3}}));
    EXPECT_EQ(found.first, (std::vector<int>{0, 0, 1, 2}));
    EXPECT_EQ(found.second, (std::vector<int>{1, 3, 3}));
}

TEST(TextAlignment, OneThatEndsBefore) {
    const auto found = alignTexts(Pieces{"the", " cat"}, Pieces{"the", " cat", " sat"});
    EXPECT_EQ(found.first, (std::vector<int>{0, 1, -1}));
    EXPECT_EQ(found.second, (std::vector<int>{0, 1}));
    EXPECT_EQ(alignTexts({}, Pieces{"a"}).first, (std::vector<int>{-1}));
}

TEST(TextAlignment, ATokenBeforeTheTextOrASpaceIsLeftOut) {
    const auto begun = alignTexts(Pieces{"the", " cat"}, Pieces{"<s>", " the", " c", "at"});
    EXPECT_EQ(begun.ends, (Ends{{0, 1}, {1, 3}}));
    EXPECT_EQ(begun.first, (std::vector<int>{-1, 0, 1, 1}));
    const auto other = alignTexts(Pieces{"<|begin|>", "the"}, Pieces{"t", "he"});
    EXPECT_EQ(other.ends, (Ends{{1, 1}}));
    // Both have it.
    EXPECT_EQ(alignTexts(Pieces{"<s>", "a"}, Pieces{"<s>", "a"}).ends, (Ends{{0, 0}, {1, 1}}));
}

TEST(TextAlignment, ACharacterThatOneTokenizerDoesNotKnowEndsIt) {
    const std::string unknown = "\xEF\xBF\xBD", accent = "\xC3\xA9";
    // Both know it, one in halves.
    const auto known = alignTexts(Pieces{"a", "\xC3",
                                         "\xA9"
                                         "b"},
                                  Pieces{"a", accent, "b"});
    EXPECT_EQ(known.ends, (Ends{{0, 0}, {2, 2}}));
    EXPECT_EQ(known.second, (std::vector<int>{0, 1, 2}));
    const auto one =
        alignTexts(Pieces{"a", "b", unknown, "c", "d"}, Pieces{"ab", accent, "c", "d"});
    EXPECT_EQ(one.ends, (Ends{{1, 0}}));
    EXPECT_EQ(one.first, (std::vector<int>{1, -1, -1, -1}));
    EXPECT_EQ(one.second, (std::vector<int>{0, 0, -1, -1, -1}));
    // After a token of its own.
    const auto begun =
        alignTexts(Pieces{"<s>", "the", " c", unknown, "t"}, Pieces{"the", " c", accent, "t"});
    EXPECT_EQ(begun.ends, (Ends{{1, 0}, {2, 1}}));
    // Characters that differ in their second byte.
    EXPECT_EQ(alignTexts(Pieces{"a", "\xC3", "\xA8"}, Pieces{"a", "\xC3", "\xA9"}).ends,
              (Ends{{0, 0}}));
    // Nothing agrees.
    const auto none = alignTexts(Pieces{"xy", "z"}, Pieces{"ab", "c"});
    EXPECT_TRUE(none.ends.empty());
    EXPECT_EQ(none.first, (std::vector<int>{-1, -1}));
    EXPECT_EQ(none.second, (std::vector<int>{-1, -1}));
}

TEST(TextAlignment, RandomDivisionsAgreeWithTheEndsOfEach) {
    std::mt19937 random(3);
    const auto divided = [&](const std::string& text) {
        Pieces pieces;
        for (std::size_t at = 0; at < text.size();) {
            const auto length = std::min<std::size_t>(1 + random() % 4, text.size() - at);
            pieces.push_back(text.substr(at, length));
            at += length;
            if (random() % 5 == 0) pieces.emplace_back();  // an id without a piece
        }
        return pieces;
    };
    for (int k = 0; k < 200; ++k) {
        std::string text;
        for (unsigned n = 1 + random() % 30; n > 0; --n)
            text += static_cast<char>('a' + random() % 26);
        const auto first = divided(text), second = divided(text);
        const auto found = alignTexts(first, second);
        const auto endOf = [](const Pieces& pieces, std::int64_t piece) {
            std::size_t end = 0;
            for (std::int64_t p = 0; p <= piece; ++p)
                end += pieces[static_cast<std::size_t>(p)].size();
            return end;
        };
        std::size_t common = 0;
        for (std::size_t end = 1; end <= text.size(); ++end) {
            const auto ends = [&](const Pieces& pieces) {
                for (std::size_t p = 0; p < pieces.size(); ++p)
                    if (!pieces[p].empty() && endOf(pieces, static_cast<std::int64_t>(p)) == end)
                        return true;
                return false;
            };
            if (!ends(first) || !ends(second)) continue;
            ASSERT_LT(common, found.ends.size());
            EXPECT_EQ(endOf(first, found.ends[common][0]), end);
            EXPECT_EQ(endOf(second, found.ends[common][1]), end);
            EXPECT_FALSE(first[static_cast<std::size_t>(found.ends[common][0])].empty());
            ++common;
        }
        EXPECT_EQ(common, found.ends.size());
    }
}

TEST(TextAlignment, ASampleInOtherTokensIsTheSameText) {
    const auto letters = core::characterTokenizer("abcdefghijklmnopqrstuvwxyz ");
    const auto words = core::gpt2Tokenizer();
    const auto ids = words->encode("the cat sat");
    const auto sample = core::tokenSample(words.get(), {ids.begin(), ids.end()}, "validation 3");
    EXPECT_EQ(core::inTokensOf(words.get(), sample), sample);
    EXPECT_EQ(core::inTokensOf(nullptr, sample), sample);
    const auto other = core::inTokensOf(letters.get(), sample);
    EXPECT_EQ(other.origin, "validation 3");
    EXPECT_EQ(other.source.size(), 11);
    EXPECT_EQ(other.source.labels.front(), "t");
    EXPECT_TRUE(other.source.text);
    // Ids that no tokenizer has are of the data, not of a text.
    const auto unknown = core::tokenSample(words.get(), {5, 60000}, "");
    EXPECT_EQ(core::inTokensOf(words.get(), unknown), unknown);
}

}  // namespace
}  // namespace relascope
