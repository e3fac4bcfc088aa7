// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs: generated ones, files of others, and damaged ones.
#include "datasets/generators/minimal_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "data/minimal_pairs.h"
#include "datasets/registry.h"
#include "options/pair_data.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

std::vector<std::string> wordsIn(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::erase_if(text, [](char c) { return c == '.' || c == '?'; });
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

TEST(GeneratedPairs, AreSixtyOfTwelvePhenomenaAndNoneTwice) {
    ASSERT_EQ(pairPhenomena().size(), 12u);
    for (const std::int64_t distance : {0, 1, 2, 3})
        for (const bool attractors : {true, false}) {
            const auto pairs = generatePairs({"", 60, distance, attractors});
            ASSERT_EQ(pairs.size(), 720u);
            std::set<std::string> good;
            std::map<std::string, int> counts;
            for (const auto& pair : pairs) {
                ++counts[pair.phenomenon];
                EXPECT_TRUE(good.insert(pair.good).second) << pair.good;
                ASSERT_EQ(pair.bad.size(), 1u);
                EXPECT_NE(pair.good, pair.bad[0]);
                // One word differs, or two change places with others.
                auto a = wordsIn(pair.good), b = wordsIn(pair.bad[0]);
                ASSERT_EQ(a.size(), b.size()) << pair.good << pair.bad[0];
                std::multiset<std::string> left(a.begin(), a.end()), right(b.begin(), b.end());
                std::vector<std::string> only;
                std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                                    std::back_inserter(only));
                EXPECT_LE(only.size(), 1u) << pair.good << " / " << pair.bad[0];
                EXPECT_TRUE(std::isupper(static_cast<unsigned char>(pair.good[0])));
                EXPECT_EQ(pair.good.find("  "), std::string::npos) << pair.good;
            }
            for (const auto& one : pairPhenomena()) EXPECT_EQ(counts[one.name], 60) << one.name;
        }
}

TEST(GeneratedPairs, DependOnTheSeedAndOnDistanceAlone) {
    const auto first = generatePairs({"filler_gap", 30}), again = generatePairs({"filler_gap", 30}),
               other = generatePairs({"filler_gap", 30, 1, true, 7});
    for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(first[k].good, again[k].good);
    EXPECT_NE(first[0].good + first[1].good, other[0].good + other[1].good);
    const auto length = [](const std::vector<MinimalPair>& pairs) {
        std::size_t words = 0;
        for (const auto& pair : pairs) words += wordsIn(pair.good).size();
        return words;
    };
    for (const auto& one : pairPhenomena())
        EXPECT_LT(length(generatePairs({one.name, 60, 1})),
                  length(generatePairs({one.name, 60, 3})))
            << one.name;
    EXPECT_THROW(generatePairs({"filler_gaps", 30}), OptionError);
    EXPECT_THROW(generatePairs({"reflexive_gender", 100000, 0}), OptionError);
}

TEST(GeneratedPairs, AreDataOfTheirOwnKind) {
    const auto& kind = dataKind("minimal-pairs");
    EXPECT_FALSE(kind.trains);
    for (const auto& one : pairPhenomena()) EXPECT_TRUE(kind.findTask(one.name)) << one.name;
    EXPECT_EQ(kind.tasks.size(), 13u);
    auto o = pairData();
    o.task = "argument_order";
    const auto data = asPairs(openData(o).validation);
    EXPECT_EQ(data->size(), 60);
    const auto sample = data->sample(3);
    EXPECT_TRUE(sample.source.text);
    std::string text;
    for (const auto& label : sample.source.labels) text += label;
    EXPECT_EQ(text, data->pair(3).good);
    RunOptions run;
    run.data = pairData();
    EXPECT_THROW(run.check(), OptionError);
}

class PairFiles : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(m_home.path()); }
    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(m_home / name, std::ios::binary) << text;
        return m_home / name;
    }
    /// The error of a file with that content.
    std::string error(const std::string& text) {
        const auto path = write("pairs.jsonl", text);
        try {
            readMinimalPairs(path);
        } catch (const Error& found) {
            return std::string(found.what()).substr(path.size() + 2);
        }
        return {};
    }
    TemporaryFolder m_home{"pair-files"};
};

const std::string kPair =
    R"({"sentence_good": "It is.", "sentence_bad": "It are.", "UID": "agreement"})";

TEST_F(PairFiles, AreReadAsBlimpWritesThem) {
    std::string text = "\xEF\xBB\xBF";
    for (const auto& pair : generatePairs({"", 5})) text += pairLine(pair, 0) + "\r\n\n";
    const auto data = readMinimalPairs(write("own.jsonl", text));
    const auto same = generatePairs({"", 5});
    ASSERT_EQ(data->size(), 60);
    for (std::int64_t k = 0; k < data->size(); ++k) {
        const auto& pair = same[static_cast<std::size_t>(k)];
        EXPECT_EQ(data->pair(k).good, pair.good);
        EXPECT_EQ(data->pair(k).bad, pair.bad);
        EXPECT_EQ(data->pair(k).phenomenon, pair.phenomenon);
        EXPECT_EQ(data->pair(k).term, pair.term);
    }
    EXPECT_EQ(data->pair(1).place, "own.jsonl, line 3");
    // A folder has the files of all phenomena; other files are left out.
    write("README.md", "about");
    write("second.jsonl", kPair + "\n");
    EXPECT_EQ(readMinimalPairs(m_home.path())->size(), 61);
}

TEST_F(PairFiles, MayNameTheirFieldsAndHavePrefixesAndSeveralWrongSentences) {
    const auto path = write(
        "other.jsonl",
        R"({"right": " is old.", "wrong": [" are old.", ", are old."], "start": "The file", "kind": "x"})");
    const auto data = readMinimalPairs(path, PairFields::of("right,wrong,start,kind", "--fields"));
    const auto& pair = data->pair(0);
    EXPECT_EQ(pair.good, "The file is old.");
    EXPECT_EQ(pair.bad, (std::vector<std::string>{"The file are old.", "The file, are old."}));
    EXPECT_EQ(pair.prefix, "The file");
    EXPECT_EQ(pair.phenomenon, "x");
    EXPECT_EQ(readMinimalPairs(path, PairFields::of("right,wrong", "--fields"))->pair(0).phenomenon,
              "other");
    EXPECT_THROW(PairFields::of("right", "--fields"), OptionError);
    EXPECT_THROW(PairFields::of("a,b,c,d,e", "--fields"), OptionError);
    EXPECT_EQ(PairFields::of("", "--fields").bad, "sentence_bad");
}

TEST_F(PairFiles, PrefixesAreJoinedAsTheyStand) {
    using Json = nlohmann::ordered_json;
    const std::vector<std::array<std::string, 3>> parts = {
        {"\xe7\x8c\xab\xe3\x81\xaf", "\xe5\x8f\xaf\xe6\x84\x9b", "\xe5\x8f\xaf"},
        {"Yesterday (", "we) left.", "us) left."},
        {"He said \xe2\x80\x9c", "I am here.", "I is here."},
        {"The file", " is old.", " are old."},
        {"The keys to the cab", "inet are here.", "inet is here."},
        {"un", "likely it is.", "liked it is."}};
    std::string lines, whole;
    for (const auto& [prefix, good, bad] : parts) {
        Json json = {{"prefix", prefix}, {"sentence_good", good}, {"sentence_bad", bad}};
        lines += json.dump() + "\n";
        json["sentence_good"] = prefix + good, json["sentence_bad"] = prefix + bad;
        whole += json.dump() + "\n";
    }
    const auto apart = readMinimalPairs(write("apart.jsonl", lines));
    const auto given = readMinimalPairs(write("whole.jsonl", whole));
    for (std::int64_t k = 0; k < apart->size(); ++k) {
        EXPECT_EQ(apart->pair(k).good, given->pair(k).good);
        EXPECT_EQ(apart->pair(k).bad, given->pair(k).bad);
        EXPECT_EQ(apart->pair(k).prefix, given->pair(k).prefix);
    }
    const auto& note = apart->info().note;
    EXPECT_EQ(note.find("In 2 pairs (first: apart.jsonl, line 5) a prefix and what follows it"), 0u)
        << note;
    EXPECT_EQ(given->info().note, "");
    // Where one sentence happens to begin with the prefix, neither is whole.
    const auto one = readMinimalPairs(
        write("one.jsonl", R"({"prefix": "ha", "sentence_good": "ha.", "sentence_bad": "ho."})"));
    EXPECT_EQ(one->pair(0).good, "haha.");
    EXPECT_EQ(one->pair(0).bad.front(), "haho.");
}

TEST_F(PairFiles, ThatAreDamagedAreNamedByLineAndField) {
    EXPECT_EQ(error(""), "is empty; give JSON lines, a pair a line");
    EXPECT_EQ(error("\n  \n"), "is empty; give JSON lines, a pair a line");
    EXPECT_EQ(error(kPair + "\n{\"sentence_good\": \"It is.\", \"wrong\": \"x\"}\n"),
              "line 2 has no 'sentence_bad'; it has sentence_good, wrong: name the fields as "
              "GOOD,BAD (--fields, data.text_field)");
    EXPECT_EQ(error("{\"sentence_good\": 3, \"sentence_bad\": \"x\"}"),
              "line 1 has number as 'sentence_good'; expected a string");
    EXPECT_EQ(error("{\"sentence_good\": \"\", \"sentence_bad\": \"x\"}"),
              "line 1 has an empty 'sentence_good'");
    EXPECT_EQ(error("{\"sentence_good\": \"a\", \"sentence_bad\": []}"),
              "line 1 has no sentence in 'sentence_bad'");
    EXPECT_NE(error(kPair + "\nIt is.\tIt are.\n").find("line 2 is not JSON"), std::string::npos);
    EXPECT_NE(error("[" + kPair + "]").find("line 1 is no object"), std::string::npos);
    EXPECT_NE(error(kPair + "\n{\"sentence_good\": \"caf\xE9\", \"sentence_bad\": \"x\"}\n")
                  .find("line 2 is not UTF-8"),
              std::string::npos);
    std::string wide = "\xFF\xFE";
    for (const char c : kPair) wide += c, wide += '\0';
    EXPECT_NE(error(wide).find("UTF-16"), std::string::npos);
    EXPECT_THROW(readMinimalPairs(m_home / "none.jsonl"), FileError);
    std::filesystem::create_directories(m_home / "empty");
    EXPECT_THROW(readMinimalPairs(m_home / "empty"), FileError);
}

}  // namespace
}  // namespace relascope
