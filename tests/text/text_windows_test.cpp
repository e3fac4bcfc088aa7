// SPDX-License-Identifier: GPL-3.0-or-later
// Windows of a text: what is trained on, what is held out, and that the two never meet.
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "data/text_tokens.h"
#include "files/npy.h"
#include "support/rooms.h"
#include "text/small_tokenizer.h"
#include "text/text_fixture.h"

namespace relascope {
namespace {

// Shards whose token i is i: a window says where it stands.
class Windows : public TextTest {
protected:
    std::string counting(std::int64_t count) {
        std::string bytes;
        for (std::int64_t i = 0; i < count; ++i) bytes += le(static_cast<std::uint64_t>(i), 2);
        return write("counting.bin", bytes);
    }
};

TEST_F(Windows, TargetsAreInputsShifted) {
    const auto splits = openText(options(counting(1000), "characters", 7));
    EXPECT_EQ(splits.tokenizer, nullptr);
    for (const auto& data : {splits.train, splits.validation})
        for (std::int64_t i = 0; i < data->size(); ++i) {
            const auto w = window(data, i);
            ASSERT_EQ(w.size(), 8u);
            for (std::size_t k = 1; k < w.size(); ++k) ASSERT_EQ(w[k], w[0] + std::int64_t(k));
        }
    EXPECT_THROW(window(splits.train, -1), std::out_of_range);
    EXPECT_THROW(window(splits.train, splits.train->size()), std::out_of_range);
}

TEST_F(Windows, TrainingNeverSeesWhatIsHeldOut) {
    for (const std::int64_t context : {1, 2, 3, 8, 16, 100, 240}) {
        const auto splits = openText(options(counting(1000), "characters", context));
        const std::int64_t border = 750;
        std::set<std::int64_t> starts;
        for (std::int64_t epoch = 0; epoch < 2 * context + 3; ++epoch) {
            const auto data = splits.trainEpoch(epoch);
            ASSERT_EQ(data->size(), splits.train->size());
            for (std::int64_t i = 0; i < data->size(); ++i) {
                const auto w = window(data, i);
                ASSERT_GE(w.front(), 0);
                ASSERT_LT(w.back(), border) << "context " << context << ", epoch " << epoch;
                starts.insert(w.front() % context);
            }
        }
        // Every offset comes, so every token is learned behind every number of others.
        EXPECT_EQ(static_cast<std::int64_t>(starts.size()), context);
        for (std::int64_t i = 0; i < splits.validation->size(); ++i)
            ASSERT_GE(window(splits.validation, i).front(), border);
    }
}

TEST_F(Windows, PassesDifferAndRepeat) {
    const auto o = options(counting(1000), "characters", 10);
    const auto splits = openText(o), again = openText(o);
    for (std::int64_t i = 0; i < splits.train->size(); ++i)
        ASSERT_EQ(window(splits.train, i), window(splits.trainEpoch(0), i));
    std::set<std::int64_t> offsets;
    for (const std::int64_t epoch : {0, 1, 2, 7}) {
        offsets.insert(window(splits.trainEpoch(epoch), 0)[0]);
        ASSERT_EQ(window(splits.trainEpoch(epoch), 3), window(again.trainEpoch(epoch), 3));
    }
    EXPECT_EQ(offsets.size(), 4u);
}

TEST_F(Windows, SmallPassesGoOnWhereTheLastEnded) {
    auto o = options(counting(1000), "characters", 10);
    o.train_size = 50;
    const auto splits = openText(o);
    EXPECT_EQ(splits.train->size(), 50);
    EXPECT_EQ(window(splits.trainEpoch(0), 49)[0], 490);
    EXPECT_EQ(window(splits.trainEpoch(1), 0)[0], 500);
    o.train_size = 1 << 20;  // no more than there are
    EXPECT_EQ(openText(o).train->size(), 74);
}

TEST_F(Windows, ValidationIsSpreadAndFixed) {
    auto o = options(counting(1000), "characters", 10);
    EXPECT_EQ(openText(o).validation->size(), 24);
    o.validation_size = 6;
    const auto data = openText(o).validation;
    ASSERT_EQ(data->size(), 6);
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(window(data, i)[0], 750 + 40 * i);
}

TEST_F(Windows, RangesOfEverySizeStayInside) {
    for (std::int64_t tokens = 1; tokens < 60; ++tokens)
        for (std::int64_t context = 1; context < 30; ++context) {
            const TokenRange range{100, tokens, context};
            ASSERT_EQ(range.fits() > 0, tokens > context);
            if (range.fits() == 0) continue;
            ASSERT_GE(range.windowsARound(), 1);
            for (std::int64_t n = 0; n < 200; ++n) {
                ASSERT_GE(range.trainStart(n), 100);
                ASSERT_LE(range.trainStart(n) + context + 1, 100 + tokens);
            }
            for (std::int64_t i = 0; i < range.fits(); ++i)
                ASSERT_EQ(range.evenStart(i, range.fits()), 100 + i * context);
        }
}

TEST_F(Windows, ASampleIsWhatTheScreensShow) {
    const auto path =
        write("s.txt", std::string(400, 'a') +
                           "hello naïve world, at the end of it all, where a few more words are");
    const auto o = options(path, "gpt2", 4);
    const auto splits = openText(o);
    const auto sample = splits.validation->sample(0);
    EXPECT_EQ(sample.origin, "validation 0");
    EXPECT_TRUE(sample.source.text);
    ASSERT_EQ(sample.source.size(), 4);
    const auto w = window(splits.validation, 0);
    std::string text;
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(sample.source.tokens[i], w[i]);
        EXPECT_EQ(sample.source.labels[i],
                  splits.tokenizer->piece(static_cast<std::int32_t>(w[i])));
    }
    EXPECT_EQ(openText(options(counting(500))).train->sample(2).source.labels,
              (std::vector<std::string>{"8", "9", "10", "11"}));
    EXPECT_FALSE(openText(options(counting(500))).train->sample(2).source.text);
    // A tokenizer that does not know all ids of a shard.
    writeTokenizer(*characterTokenizer("abcdefgh"), m_folder / "t.json");
    const auto odd = openText(options(counting(500), m_folder / "t.json")).train->sample(2);
    EXPECT_EQ(odd.source.labels, (std::vector<std::string>{"h", "9", "10", "11"}));
}

TEST_F(Windows, ReadsShardsOfEveryForm) {
    std::string narrow, wide;
    for (int i = 0; i < 100; ++i) narrow += le(i, 2), wide += le(70000 + i, 4);
    const auto header = [](std::uint32_t magic, std::uint32_t version, std::uint32_t count) {
        std::string bytes = le(magic, 4) + le(version, 4) + le(count, 4);
        bytes.resize(1024);
        return bytes;
    };
    const auto first = [&](const std::string& name, const std::string& bytes) {
        return window(openText(options(write(name, bytes))).train, 1).at(0);
    };
    EXPECT_EQ(first("plain.bin", narrow), 4);
    EXPECT_EQ(first("gpt2.bin", header(20240520, 1, 100) + narrow), 4);
    EXPECT_EQ(openText(options(m_folder / "gpt2.bin")).tokenizer, gpt2Tokenizer());
    EXPECT_EQ(first("llama.bin", header(20240801, 7, 100) + wide), 70004);
    EXPECT_EQ(openText(options(m_folder / "llama.bin")).tokenizer, nullptr);
    EXPECT_EQ(first("u2.npy", makeNpyHeader("<u2", {100}) + narrow), 4);
    EXPECT_EQ(first("u4.npy", makeNpyHeader("<u4", {100}) + wide), 70004);
    EXPECT_EQ(first("odd.npy", std::string("\x93NUMPY\x01\0\x39\0{'descr':'<u2','fortran_order'"
                                           ":False,'shape':(100,)}     \n",
                                           67) +
                                   narrow),
              4);

    const auto refused = [&](const std::string& name, const std::string& bytes,
                             const std::vector<std::string>& words) {
        expectRefusal(options(write(name, bytes)), words);
    };
    refused("x.bin", narrow + "x", {"x.bin: has 201 bytes"});
    refused("x.bin", "", {"contains no tokens"});
    refused("x.bin", header(20240520, 2, 100) + narrow, {"version 2 at byte 4"});
    refused("x.bin", header(20240520, 1, 101) + narrow, {"1224 bytes", "1226"});
    refused("x.bin", header(20240520, 1, 4294967295u) + narrow, {"4294967295 tokens"});
    refused("x.bin", header(20240801, 7, 99) + wide, {"1424 bytes"});
    refused("x.bin", header(20240520, 1, 0).substr(0, 100), {"truncated within its header"});
    refused("x.bin", header(20240522, 1, 3), {"evaluation file"});
    refused("x.npy", narrow, {"not a .npy"});
    refused("x.npy", "", {"truncated"});
    refused("x.npy", makeNpyHeader("<f4", {50}) + narrow, {"contains no tokens"});
    refused("x.npy", makeNpyHeader(">u2", {100}) + narrow, {"contains no tokens"});
    refused("x.npy", makeNpyHeader("<u2", {10, 10}) + narrow, {"contains no tokens"});
    refused("x.npy", makeNpyHeader("<u2", {101}) + narrow, {"declares 202"});
    refused("x.npy", makeNpyHeader("<u2", {100}).substr(0, 40), {"truncated"});
}

TEST_F(Windows, AFolderOfShardsIsOneSequence) {
    for (int shard = 0; shard < 5; ++shard) {
        std::string bytes;
        for (int i = 0; i < 20; ++i) bytes += le(static_cast<std::uint64_t>(20 * shard + i), 2);
        write("shards/part_" + std::to_string(shard) + ".npy", makeNpyHeader("<u2", {20}) + bytes);
    }
    write("shards/readme.txt", "no shard");
    std::vector<std::int64_t> expected(100);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(allTokens(options(m_folder / "shards")), expected);
    // Windows reach over several shards.
    auto wide = options(m_folder / "shards");
    wide.validation_fraction = 0.3, wide.context = 20;
    EXPECT_EQ(window(openText(wide).train, 1).back(), 40);
    writeTokenizer(*characterTokenizer("abc"), m_folder / "shards/tokenizer.json");
    EXPECT_EQ(openText(options(m_folder / "shards")).tokenizer->size(), 4);
    write("shards/part_9.bin",
          le(20240801, 4) + le(7, 4) + le(1, 4) + std::string(1012, '\0') + le(1, 4));
    expectRefusal(options(m_folder / "shards"), {"part_9.bin: has tokens of 32 bits", "of 16"});
}

TEST_F(Windows, TokensBeyondTheVocabularyAreFound) {
    const auto path = counting(1000);
    const auto splits = openText(options(path));
    EXPECT_NO_THROW(requireTokensWithin(splits, 1000));
    try {
        requireTokensWithin(splits, 900);
        FAIL();
    } catch (const FileError& error) {
        EXPECT_EQ(error.path(), path);
        EXPECT_NE(std::string(error.what()).find("token 900 at byte 1800"), std::string::npos)
            << error.what();
    }
    EXPECT_NO_THROW(requireTokensWithin(splits, 1000));  // remembered
    const auto text =
        openText(options(write("t.txt", "some words to read, and some more"), "gpt2", 1));
    EXPECT_NO_THROW(requireTokensWithin(text, 50257));
    EXPECT_THROW(requireTokensWithin(text, 256), OptionError);
    // A token that was added to the tokenizer, and that the model does not have.
    auto file = testing_support::smallTokenizer();
    file["added_tokens"].push_back({{"id", 260}, {"content", "<new>"}});
    const auto tokenizer = write("tokenizer.json", file.dump());
    EXPECT_NO_THROW(
        requireTokensWithin(openText(options(write("a.txt", "the words"), tokenizer, 1)), 260));
    try {
        requireTokensWithin(openText(options(write("b.txt", "the <new> words"), tokenizer, 1)),
                            260);
        FAIL();
    } catch (const FileError& error) {
        EXPECT_EQ(error.path(), m_folder / "b.txt");
        for (const char* part : {"token 260", "'<new>'", "vocabulary of 260"})
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_NO_THROW(requireTokensWithin(DataSplits{}, 10));
}

TEST_F(Windows, AShardCutShortIsAnErrorNotACrash) {
    const auto path = counting(100000);
    const auto splits = openText(options(path, "characters", 16));
    EXPECT_NO_THROW(window(splits.validation, splits.validation->size() - 1));
    std::filesystem::resize_file(path, 4096);
    try {
        window(splits.validation, splits.validation->size() - 1);
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("truncated"), std::string::npos);
    }
    EXPECT_THROW(window(splits.train, 0), FileError);
}

}  // namespace
}  // namespace relascope
