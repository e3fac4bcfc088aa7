// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli duel: two subjects on the command line, their files and figure.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;

class DuelCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = new TemporaryFolder("duel-cli");
        for (const auto* seed : {"1", "2"}) {
            const auto trained = runCli(
                std::string("train quick --steps 3 --threads 1 --seed ") + seed + " --out " +
                run(seed) +
                " --set data.train_size=64 --set data.validation_size=48 --set data.test_size=16");
            ASSERT_EQ(trained.code, 0) << trained.err;
        }
    }
    static void TearDownTestSuite() { delete folder; }
    static std::string run(const std::string& seed) { return folder->path() + "/run" + seed; }
    static std::string quickly() { return " --threads 1 --examples 24 --untrained 1 "; }
    static TemporaryFolder* folder;
};
TemporaryFolder* DuelCli::folder = nullptr;

TEST_F(DuelCli, TwoRunsAsTextJsonAndCsv) {
    const auto text = runCli("duel " + run("1") + " " + run("2") + quickly());
    ASSERT_EQ(text.code, 0) << text.err;
    EXPECT_EQ(text.out.find("A: run1, step 3"), 0u) << text.out;
    EXPECT_NE(text.out.find("\nB: run2, step 3"), std::string::npos);
    EXPECT_NE(text.out.find("24 images are too few for a sentence; 50 or more are needed."),
              std::string::npos)
        << text.out;
    const auto said = runCli("duel " + run("1") + " " + run("2") + " --json" + quickly());
    ASSERT_EQ(said.code, 0) << said.err;
    const auto result = json(said);
    EXPECT_FALSE(result.at("same").get<bool>());
    EXPECT_TRUE(result.at("complete").get<bool>());
    EXPECT_EQ(result.at("examples"), 24);
    EXPECT_FALSE(result.contains("parts_in_a"));
    const auto csv = folder->path() + "/duel.csv";
    const auto written = runCli("duel " + run("1") + " " + run("2") + quickly() + "--out " + csv);
    ASSERT_EQ(written.code, 0) << written.err;
    EXPECT_EQ(slurp(csv).find("maps,a,b,correlation,random_assignments,"), 0u);
    EXPECT_EQ(slurp(folder->path() + "/duel.streams.csv").find("a,b,linear_cka,"), 0u);
}

TEST_F(DuelCli, WithoutBItIsTheSameAtAnotherStepOrWithEdits) {
    const auto same = json(runCli("duel " + run("1") + " --json" + quickly()));
    EXPECT_TRUE(same.at("same").get<bool>());
    EXPECT_EQ(same.at("largest_difference"), 0.0);
    const auto step = json(runCli("duel " + run("1") + " --other-checkpoint 0 --json" + quickly()));
    EXPECT_FALSE(step.at("same").get<bool>());
    EXPECT_EQ(step.at("b"), "run1, step 0");
    const auto edited = json(
        runCli("duel " + run("1") + " --other-edit 'layer 1 attention zero' --json" + quickly()));
    EXPECT_EQ(edited.at("b"), "run1, step 3, edited: layer 1 attention zero");
    const auto other =
        json(runCli("duel " + run("1") + " --edit 'layer 1 attention zero' --json" + quickly()));
    EXPECT_EQ(other.at("a"), "run1, step 3, edited: layer 1 attention zero");
}

TEST_F(DuelCli, WhatDoesNotOpenIsNamed) {
    expectRefused("duel " + run("1") + " /no/such/run", 1, "/no/such/run");
    expectRefused("duel " + run("1") + " " + run("2") + " --other-edit 'layer 9 attention zero'", 2,
                  "--other-edit: there is no layer 9");
    expectRefused("duel " + run("1") + " --graft streams", 2, "--graft");
}

}  // namespace
}  // namespace relascope
