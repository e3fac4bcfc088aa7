// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs on the command line: data, eval --pairs, pair-accuracy, phenomena, and the --pairs
// of ablate, scan, duel and patch.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

const std::string kPairFixtures = RELASCOPE_FIXTURES;

class PairsCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        s_home = new TemporaryFolder("pairs-cli");
        std::filesystem::create_directories(s_home->path());
    }
    static void TearDownTestSuite() { delete s_home; }
    static std::string model() { return kPairFixtures + "/golden/public/gpt2_tied"; }
    static std::string pairs() { return kPairFixtures + "/pairs/pairs.jsonl"; }
    static TemporaryFolder* s_home;
};
TemporaryFolder* PairsCli::s_home = nullptr;

TEST_F(PairsCli, EvalSaysHowOftenTheGoodSentenceIsPreferred) {
    const auto ran = runCli("eval --json " + model() + " --pairs " + pairs());
    const auto answer = json(ran);
    EXPECT_EQ(answer["pairs"].size(), 5u);
    EXPECT_EQ(answer["phenomena"].size(), 5u);
    EXPECT_EQ(answer["count"], 5);
    EXPECT_EQ(answer["ties"], 1);
    EXPECT_EQ(answer["read_before"], "<|endoftext|>");
    EXPECT_LT(answer["low"].get<double>(), answer["pair_accuracy"].get<double>());
    const auto mean = json(runCli("eval --json " + model() + " --score mean --pairs " + pairs()));
    EXPECT_GT(mean["pairs"][0]["good_score"].get<double>(),
              answer["pairs"][0]["good_score"].get<double>());
    // The same with edits, as a table, and as the command of its own.
    EXPECT_NE(json(runCli("eval --json " + model() + " --pairs " + pairs() +
                          " --edit \"layer 1 attention zero\""))["pairs"][0]["good_score"],
              answer["pairs"][0]["good_score"]);
    const auto out = *s_home / "pairs.csv";
    const auto text = runCli("eval " + model() + " --out " + out + " --pairs " + pairs());
    EXPECT_EQ(text.code, 0) << text.err;
    std::ifstream csv(out);
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(line.rfind("phenomenon,term,pairs,right,ties,pair_accuracy", 0), 0u) << line;
    EXPECT_TRUE(std::filesystem::exists(*s_home / "pairs.pairs.csv"));
    EXPECT_NE(runCli("pair-accuracy " + model() + " --pairs " + pairs()).out.find("Pair accuracy"),
              std::string::npos);
}

TEST_F(PairsCli, TheTwelvePhenomenaAreWrittenAndReadBack) {
    const auto file = *s_home / "own.jsonl";
    const auto made = runCli("data minimal-pairs --count 3 --set data.distance=0 --out " + file);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_NE(made.err.find("wrote 36 pairs"), std::string::npos) << made.err;
    EXPECT_EQ(json(runCli("eval --json " + model() + " --pairs " + file))["phenomena"].size(), 12u);
    EXPECT_NE(runCli("data minimal-pairs --out " + *s_home / "own.npz").code, 0);
    const auto refused = runCli("data minimal-pairs --set data.distance=9 --out " + file);
    EXPECT_NE(refused.err.find("distance"), std::string::npos) << refused.err;
    EXPECT_NE(runCli("train text --set data.kind=minimal-pairs --set data.task=twelve --out " +
                     *s_home / "run")
                  .err.find("not to train on"),
              std::string::npos);
}

TEST_F(PairsCli, PartsAreTakenOutByPhenomenaAndByAblate) {
    const auto options = " --json " + model() + " --what heads --pairs " + pairs();
    const auto answer = json(runCli("phenomena" + options)),
               ablated = json(runCli("ablate" + options));
    EXPECT_EQ(answer, ablated);
    EXPECT_EQ(answer["cells"].size(), answer["parts"].size() * 5);
    EXPECT_EQ(answer["findings"].size(), 5u);  // too few pairs, for each
    const auto refused = runCli("ablate" + options + " --cumulative");
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(refused.err.find("--cumulative"), std::string::npos) << refused.err;
}

TEST_F(PairsCli, ScanAsksWhichPartsThePairsNeed) {
    const auto words = " --json " + model() + " --pairs " + pairs();
    EXPECT_EQ(json(runCli("scan" + words)), json(runCli("phenomena" + words)));
    EXPECT_NE(runCli("scan --seconds 5" + words).err.find("--seconds"), std::string::npos);
}

TEST_F(PairsCli, DuelHasThePairAccuracyOfBoth) {
    const std::string edit = "\"layer 1 attention zero\"";
    const auto of = [&](const std::string& more) {
        return json(runCli("eval --json " + model() + " --pairs " + pairs() + more));
    };
    const auto a = of(""), b = of(" --edit " + edit);
    const auto file = *s_home / "duel.json";
    const auto ran = runCli("duel " + model() + " --untrained 0 --pairs " + pairs() +
                            " --other-edit " + edit + " --out " + file);
    ASSERT_EQ(ran.code, 0) << ran.err;
    std::ifstream in(file);
    const auto duel = nlohmann::json::parse(in);
    ASSERT_EQ(duel["pairs"].size(), 6u);
    EXPECT_EQ(duel["pairs"][0]["phenomenon"], "all");
    EXPECT_EQ(duel["pairs"][0]["a"], a["pair_accuracy"]);
    EXPECT_EQ(duel["pairs"][0]["b"], b["pair_accuracy"]);
    EXPECT_NEAR(duel["pairs"][0]["difference_b"].get<double>(), b["difference"].get<double>(),
                1e-9);
    for (const auto& sentence : duel["says"])
        EXPECT_EQ(sentence.dump().find("minimal pairs"), std::string::npos) << "5 are too few";
}

TEST_F(PairsCli, PatchPutsTheGoodSentenceIntoTheWrongOne) {
    const auto file = *s_home / "letters.jsonl";
    std::ofstream(file) << R"({"sentence_good": "a b c d", "sentence_bad": "a c c d"})"
                        << "\n"
                        << R"({"sentence_good": "a b c", "sentence_bad": "a b b"})"
                        << "\n";
    const auto words = "patch --json " + model() + " --over resid --pairs " + file;
    const auto answer = json(runCli(words));
    EXPECT_EQ(answer["metric"].get<std::string>().rfind("log-probability of ", 0), 0u);
    // The stream before the first layer, at the position of the difference, is all of it.
    double most = 0.0;
    for (const auto& cell : answer["cells"]) most = std::max(most, cell["exact"].get<double>());
    EXPECT_NEAR(most, 1.0, 1e-5);
    EXPECT_NE(runCli(words + " --pair 2").err.find("nothing that A and B share follows"),
              std::string::npos);
    EXPECT_NE(runCli(words + " --pair 3").err.find("--pair: 3 is behind the last of 2"),
              std::string::npos);
    EXPECT_NE(runCli("patch " + model()).err.find("--clean: is missing"), std::string::npos);
}

TEST_F(PairsCli, WhatCannotBeReadIsNamed) {
    const auto error = [&](const std::string& words) {
        const auto ran = runCli(words);
        EXPECT_NE(ran.code, 0) << words;
        return ran.err;
    };
    EXPECT_NE(error("eval " + model() + " --pairs " + *s_home / "none.jsonl").find("none.jsonl"),
              std::string::npos);
    EXPECT_NE(error("eval " + model() + " --fields good,bad --pairs " + pairs())
                  .find("line 1 has no 'good'"),
              std::string::npos);
    EXPECT_NE(error("eval " + kPairFixtures + "/golden/vit_relational_games --pairs " + pairs())
                  .find("language models"),
              std::string::npos);
    EXPECT_NE(error("eval " + kPairFixtures + "/golden/public/gpt2_hub_names --pairs " + pairs())
                  .find("tokenizer"),
              std::string::npos);
}

}  // namespace
}  // namespace relascope
