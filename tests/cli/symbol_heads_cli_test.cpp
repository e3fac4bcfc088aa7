// SPDX-License-Identifier: GPL-3.0-or-later
// Rules in context on the command line: data rules-in-context, symbol-heads.
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

const std::string kGpt2 = std::string(RELASCOPE_FIXTURES) + "/golden/public/gpt2_tied";

std::string contentOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(SymbolHeadsCli, PromptsAreWrittenAsPairsAndAsText) {
    const TemporaryFolder home("symbol-heads-cli");
    std::filesystem::create_directories(home.path());
    const auto pairs = home / "rules.jsonl", text = home / "rules.txt";
    const auto words = "data rules-in-context --tokenizer " + kGpt2 + " --examples 3 --count 4";
    auto ran = runCli(words + " --out " + pairs);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.err.find("wrote 8 pairs of 3 examples"), std::string::npos) << ran.err;
    const auto answer = json(runCli("eval --json " + kGpt2 + " --pairs " + pairs));
    EXPECT_EQ(answer["count"], 8);
    EXPECT_EQ(answer["phenomena"].size(), 2u);
    EXPECT_EQ(runCli(words + " --seed 1 --out " + (home / "other.jsonl")).code, 0);
    EXPECT_NE(contentOf(pairs), contentOf(home / "other.jsonl"));
    ran = runCli("data rules-in-context --tokenizer characters --count 50 --out " + text);
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto lines = contentOf(text);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '^'), 100 * 22);
    for (const std::string& wrong :
         {"--tokenizer gpt2 --out " + (home / "rules.npz"), "--out " + pairs,
          "--tokenizer gpt5 --out " + pairs, "--tokenizer gpt2 --rule-tokens all --out " + pairs,
          "--tokenizer characters --rule-tokens words --out " + pairs})
        EXPECT_NE(runCli("data rules-in-context " + wrong).code, 0) << wrong;
}

TEST(SymbolHeadsCli, PartsArePatchedAndWritten) {
    const TemporaryFolder home("symbol-heads-cli");
    std::filesystem::create_directories(home.path());
    const auto command = "symbol-heads " + kGpt2 + " --pairs 4 --examples 3";
    const auto answer = json(runCli(command + " --json"));
    EXPECT_EQ(answer["pairs"], 4);
    EXPECT_EQ(answer["examples"], 3);
    EXPECT_EQ(answer["parts"].size(), 8u);
    EXPECT_EQ(answer["effects"].size(), 32u);
    EXPECT_EQ(answer["rules"].size(), 2u);
    EXPECT_EQ(answer, json(runCli(command + " --json")));
    EXPECT_EQ(json(runCli(command + " --where last --json"))["effects"].size(), 16u);
    for (const char* name : {"a.csv", "a.tex", "a.json"})
        EXPECT_EQ(runCli(command + " --out " + (home / name)).code, 0) << name;
    EXPECT_EQ(contentOf(home / "a.csv").rfind("part,group,rule_examples,rule_last", 0), 0u);
    EXPECT_TRUE(std::filesystem::exists(home / "a.rules.csv"));
    EXPECT_NE(contentOf(home / "a.json").find("\"effects\""), std::string::npos);
    const auto shown = runCli(command).out;
    EXPECT_NE(shown.find("4 pairs of contexts are too few"), std::string::npos) << shown;
    EXPECT_NE(runCli(command + " --where first").err.find("--where"), std::string::npos);
    EXPECT_NE(runCli(command + " --separator ''").err.find("--separator"), std::string::npos);
    EXPECT_NE(
        runCli("symbol-heads " + std::string(RELASCOPE_FIXTURES) + "/golden/vit_relational_games")
            .err.find("language models"),
        std::string::npos);
}

}  // namespace
}  // namespace relascope
