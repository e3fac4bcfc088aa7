// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-2's tokenizer against vectors of the published one, and against anything a user may paste.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "support/rooms.h"
#include "text/text_encoder.h"
#include "text/words.h"
#include "types/error.h"

namespace relascope {
namespace {

using Ids = std::vector<std::int32_t>;

Ids gpt2(std::string_view text) {
    return gpt2Tokenizer()->encode(text);
}

std::string randomBytes(std::mt19937_64& random, std::size_t size) {
    std::string bytes;
    while (bytes.size() < size) bytes += static_cast<char>(random());
    return bytes;
}

// Pieces of which real text and its accidents are made.
std::string randomText(std::mt19937_64& random, int pieces) {
    static const char* const parts[] = {" ",
                                        "  ",
                                        "\n",
                                        "\r\n",
                                        "\t",
                                        "\u00a0",
                                        "\u3000",
                                        "\u180e",
                                        "a",
                                        "The",
                                        "it's",
                                        "'ll",
                                        "<|endoftext|>",
                                        "日本",
                                        "é",
                                        "e\u0301",
                                        "😀",
                                        "👩‍👩‍👧",
                                        "123",
                                        "!?",
                                        "\x80",
                                        "\xff\xfe",
                                        "\xe2\x82",
                                        "\xf0\x9f",
                                        "\u2028",
                                        "=====",
                                        "ſ"};
    std::string text;
    for (int i = 0; i < pieces; ++i) {
        text += parts[random() % std::size(parts)];
        if (random() % 16 == 0) text += '\0';
        if (random() % 64 == 0) text += std::string(random() % 300, 'x');
    }
    return text;
}

TEST(Gpt2, EncodesAsPublished) {
    EXPECT_EQ(gpt2Tokenizer()->size(), 50257);
    EXPECT_EQ(gpt2Tokenizer()->endOfText(), 50256);
    EXPECT_EQ(gpt2Tokenizer()->name(), "gpt2");
    const std::pair<const char*, Ids> golden[] = {
        {"Hello world", {15496, 995}},
        {"hello world", {31373, 995}},
        {"I've 12 cats", {40, 1053, 1105, 11875}},
        {"tokenization", {30001, 1634}},
        {"  two  spaces \n\n end", {220, 734, 220, 9029, 220, 628, 886}},
        {"it's IT'S", {270, 338, 7283, 6, 50}},
        {"1234567 x=3.14;", {10163, 2231, 3134, 2124, 28, 18, 13, 1415, 26}},
        {"naïve café", {2616, 38776, 40304}},
        {"日本語", {33768, 98, 17312, 105, 45739, 252}},
        {"\U0001F642", {8582, 25081}},
        {"", {}},
    };
    for (const auto& [text, ids] : golden) EXPECT_EQ(gpt2(text), ids) << text;
}

TEST(Gpt2, SpellsTheSpecialTokenOut) {
    const auto ids = gpt2("<|endoftext|>");
    EXPECT_EQ(ids, (Ids{27, 91, 437, 1659, 5239, 91, 29}));
    EXPECT_EQ(gpt2Tokenizer()->piece(50256), "<|endoftext|>");
    EXPECT_EQ(gpt2Tokenizer()->decode(ids), "<|endoftext|>");
    // What is beyond the vocabulary gives nothing.
    EXPECT_EQ(gpt2Tokenizer()->decode(Ids{-1, 15496, 50257}), "Hello");
}

TEST(Gpt2, WhiteSpaceIsUnicodesOwn) {
    // U+180E and U+001C are marks, which go with other marks; white space would not.
    std::vector<std::string> words;
    const std::string text = "a \u180e! b\x1c\u3000 c";
    Words all(text);
    for (std::string_view word; all.next(word);) words.emplace_back(word);
    EXPECT_EQ(words, (std::vector<std::string>{"a", " \u180e!", " b", "\x1c", "\u3000", " c"}));
}

TEST(Gpt2, RoundTripsAnyBytes) {
    std::mt19937_64 random(7);
    const auto check = [](const std::string& text) {
        const auto ids = gpt2(text);
        for (const auto id : ids) ASSERT_TRUE(id >= 0 && id < 50256);
        ASSERT_EQ(gpt2Tokenizer()->decode(ids), text);
    };
    for (int byte = 0; byte < 256; ++byte) check(std::string(1, static_cast<char>(byte)));
    for (int i = 0; i < 300; ++i) check(randomBytes(random, random() % 400));
    for (int i = 0; i < 300; ++i) check(randomText(random, static_cast<int>(random() % 200)));
    check(std::string(5000, '\0') + std::string(5000, '\xff') + std::string(5000, ' '));
}

TEST(Gpt2, LongRunsTakeNoTime) {
    for (const char* unit : {"a", " ", "ab", "\xf0\x9f\x98\x80", "\n", "\xff"}) {
        std::string text;
        while (text.size() < 1'000'000) text += unit;
        const auto start = std::chrono::steady_clock::now();
        const auto ids = gpt2(text);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << unit;
        EXPECT_EQ(gpt2Tokenizer()->decode(ids), text);
    }
}

TEST(Gpt2, LongWordsGoTheWayOfShortOnes) {
    // The heap and the plain loop meet at 100 symbols: a word must not change there.
    const auto merged = [](std::size_t n) { return gpt2(std::string(n, 'a')); };
    for (std::size_t n = 96; n < 105; ++n) {
        Ids joined = merged(n);
        // Runs of one letter merge to whole pieces from the left.
        std::size_t length = 0;
        for (const auto id : joined) length += gpt2Tokenizer()->piece(id).size();
        EXPECT_EQ(length, n);
        EXPECT_EQ(joined[0], merged(64)[0]);
    }
}

TEST(Gpt2, ManyThreadsGetTheSame) {
    std::mt19937_64 random(3);
    const std::string text = randomText(random, 60000);
    const auto expected = gpt2(text);
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int k = 0; k < 3; ++k) wrong += gpt2(text) != expected;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST(TextEncoder, PiecesGiveWhatTheWholeGives) {
    std::mt19937_64 random(11);
    const auto characters = characterTokenizer("aéx日 \n");
    for (const TokenizerPtr& tokenizer : {gpt2Tokenizer(), characters}) {
        for (int i = 0; i < 8000; ++i) {
            const std::string text = randomText(random, static_cast<int>(random() % 12));
            const std::size_t cut = tokenizer->lastCut(text);
            ASSERT_LE(cut, text.size());
            const std::string more = text + randomText(random, 5);
            Ids joined = tokenizer->encode(more.substr(0, cut));
            tokenizer->encode(std::string_view(more).substr(cut), joined);
            ASSERT_EQ(joined, tokenizer->encode(more)) << "cut at " << cut << " of " << text;
        }
        std::string text = randomText(random, 200000);
        text += std::string(TextEncoder::kMost / 8, 'x') + randomText(random, 1000);
        Ids streamed;
        TextEncoder encoder(*tokenizer, [&](std::span<const std::int32_t> ids) {
            streamed.insert(streamed.end(), ids.begin(), ids.end());
        });
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t count = 1 + random() % 200000;
            encoder.add(std::string_view(text).substr(at, count));
            at += count;
        }
        encoder.finish();
        ASSERT_EQ(streamed, tokenizer->encode(text));
    }
}

TEST(TextEncoder, GivesWayToEndlessWords) {
    const std::string word(TextEncoder::kMost + 100, 'y');
    std::string decoded;
    std::size_t calls = 0;
    TextEncoder encoder(*gpt2Tokenizer(), [&](std::span<const std::int32_t> ids) {
        decoded += gpt2Tokenizer()->decode(ids);
        ++calls;
    });
    encoder.add(word);
    EXPECT_EQ(calls, 1u);  // what is held never grows beyond the bound
    encoder.finish();
    EXPECT_EQ(decoded, word);
}

TEST(Characters, AreSortedAndComplete) {
    const auto t = characterTokenizer("banana\né日😀\xff");
    EXPECT_EQ(t->size(), 8);
    EXPECT_EQ(t->piece(0), "\uFFFD");
    EXPECT_EQ(t->piece(1), "\n");
    EXPECT_EQ(t->piece(2), "a");
    EXPECT_EQ(t->piece(7), "😀");
    EXPECT_EQ(t->encode("nab"), (Ids{4, 2, 3}));
    EXPECT_EQ(t->decode(t->encode("é日\n😀")), "é日\n😀");
    EXPECT_EQ(t->encode("z"), Ids{0});
    EXPECT_EQ(t->encode("\xe6\x97"), (Ids{0, 0}));  // a byte each
    EXPECT_EQ(t->decode(t->encode("a\x80z")), "a\uFFFD\uFFFD");
    EXPECT_FALSE(t->endOfText());
    EXPECT_EQ(characterTokenizer("\uFFFDa")->size(), 2);
    EXPECT_EQ(characterTokenizer("")->size(), 1);
}

TEST(Characters, FingerprintsTellThemApart) {
    EXPECT_EQ(characterTokenizer("ab")->fingerprint(), characterTokenizer("bab")->fingerprint());
    EXPECT_NE(characterTokenizer("ab")->fingerprint(), characterTokenizer("ac")->fingerprint());
    EXPECT_NE(characterTokenizer("ab")->fingerprint(), gpt2Tokenizer()->fingerprint());
    EXPECT_EQ(gpt2Tokenizer()->fingerprint().size(), 64u);
}

TEST(Vocabulary, MustFitTheModel) {
    EXPECT_NO_THROW(requireVocabulary(*gpt2Tokenizer(), 50304));
    EXPECT_NO_THROW(requireVocabulary(*gpt2Tokenizer(), 50257));
    try {
        requireVocabulary(*gpt2Tokenizer(), 256);
        FAIL();
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "data.tokenizer");
        EXPECT_NE(error.message().find("50257 tokens"), std::string::npos);
        EXPECT_NE(error.message().find("256"), std::string::npos);
    }
}

}  // namespace
}  // namespace relascope
