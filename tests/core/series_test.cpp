// SPDX-License-Identifier: GPL-3.0-or-later
// Which names are steps of one training, and what the file of a step may hold.
#include "checkpoint/series.h"

#include <gtest/gtest.h>

#include "checkpoint/kept_weights.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace core;
using testing_support::TemporaryFolder;

using Steps = std::vector<std::pair<std::int64_t, std::string>>;

/// The steps of the only group; none if there is not one group.
Steps stepsOf(const std::vector<std::string>& names) {
    const auto groups = groupsOfSteps(names);
    return groups.size() == 1 ? groups[0].steps : Steps();
}

TEST(Series, OrdersStepsByNumber) {
    EXPECT_EQ(stepsOf({"main", "chck_10M", "chck_9M", "chck_100M", "chck_500K"}),
              (Steps{{500'000, "chck_500K"},
                     {9'000'000, "chck_9M"},
                     {10'000'000, "chck_10M"},
                     {100'000'000, "chck_100M"}}));
    EXPECT_EQ(stepsOf({"main", "step143000", "step0", "step512"}),
              (Steps{{0, "step0"}, {512, "step512"}, {143'000, "step143000"}}));
    EXPECT_EQ(stepsOf({"step-50K", "step-100K", "step-1.5M"}),
              (Steps{{50'000, "step-50K"}, {100'000, "step-100K"}, {1'500'000, "step-1.5M"}}));
    EXPECT_EQ(stepsOf({"ckpt-300B", "ckpt-1.2T"}),
              (Steps{{300'000'000'000, "ckpt-300B"}, {1'200'000'000'000, "ckpt-1.2T"}}));
    EXPECT_EQ(stepsOf({"global_step100", "global_step200"}).size(), 2u);
    EXPECT_EQ(stepsOf({"iter_0001000", "iter_0002000"}).front().first, 1000);
    EXPECT_EQ(stepsOf({"tokens_1B", "tokens_2B"}).size(), 2u);
    EXPECT_EQ(stepsOf({"step1", "main"}), Steps{});
    EXPECT_EQ(stepsOf({"step99999999999999999999", "step9B", "step5", "17"}),
              (Steps{{5, "step5"}, {9'000'000'000, "step9B"}}));
    EXPECT_EQ(stepsOf({"step1.5", "step2", "step3"}).size(), 2u) << "1.5 is no number of steps";
    EXPECT_EQ(stepsOf({}), Steps{});
}

TEST(Series, TokensGoWithTheirStep) {
    EXPECT_EQ(stepsOf({"main", "step1000-tokens4B", "step10000-tokens44B", "step2000-tokens9B"}),
              (Steps{{1000, "step1000-tokens4B"},
                     {2000, "step2000-tokens9B"},
                     {10000, "step10000-tokens44B"}}));
    EXPECT_EQ(stepsOf({"intermediate-step-1431k-3T", "intermediate-step-480k-1T"}).size(), 2u);
    const auto twice = groupsOfSteps({"step1-tokens1B", "step2-tokens2B", "step2-tokens3B"});
    ASSERT_EQ(twice.size(), 1u);
    EXPECT_EQ(twice[0].leftOut, std::vector<std::string>{"step2-tokens3B"});
}

TEST(Series, VersionsSeedsAndFormsAreNoSteps) {
    EXPECT_EQ(stepsOf({"v1", "v2", "v3.1", "main"}), Steps{});
    EXPECT_EQ(stepsOf({"v1.0", "v2.0", "main"}), Steps{});
    EXPECT_EQ(stepsOf({"seed1", "seed2", "seed3"}), Steps{});
    EXPECT_EQ(stepsOf({"fp16", "fp32", "int8", "4bit", "8bit", "refs/pr/1", "refs/pr/2"}), Steps{});
    EXPECT_EQ(stepsOf({"stage1", "stage2"}), Steps{});
}

TEST(Series, WhatElseIsInANameIsAGroup) {
    const auto groups = groupsOfSteps(
        {"main", "stage1-step150-tokens1B", "stage1-step1000-tokens5B", "stage1-step2000-tokens9B",
         "stage2-ingredient1-step1000-tokens3B", "stage2-ingredient1-step2000-tokens6B",
         "stage2-ingredient2-step1000-tokens3B", "lc-32k-to-64k-step-4000"});
    ASSERT_EQ(groups.size(), 2u) << "of one step there is no series";
    EXPECT_EQ(groups[0].group, "stage1");
    EXPECT_EQ(groups[0].steps.size(), 3u);
    EXPECT_EQ(groups[1].group, "stage2-ingredient1");
    EXPECT_EQ(groupsText(groups), "stage1 (3 steps), stage2-ingredient1 (2 steps)");
    EXPECT_EQ(groupNamed(groups, {"a/b", "*"}), &groups[0]);
    EXPECT_EQ(groupNamed(groups, {"a/b", "stage2-ingredient1-*"}), &groups[1]);
    EXPECT_EQ(groupNamed(groups, {"a/b", "stage3-*"}), nullptr);
    const auto seeds =
        groupsOfSteps({"seed1-step100", "seed1-step200", "seed2-step100", "seed2-step200"});
    ASSERT_EQ(seeds.size(), 2u) << "two trainings are no development";
    EXPECT_EQ(seeds[0].group, "seed1");
    EXPECT_EQ(seeds[1].steps, (Steps{{100, "seed2-step100"}, {200, "seed2-step200"}}));
    const auto words = groupsOfSteps({"step1", "step2", "ckpt1", "ckpt2", "ckpt3"});
    ASSERT_EQ(words.size(), 2u);
    EXPECT_EQ(words[0].steps.size(), 3u);
    EXPECT_EQ(groupsText(words), "ckpt (3 steps), step (2 steps)");
    EXPECT_EQ(groupNamed(words, {"a/b", "step*"}), &words[1]);
}

TEST(Series, HasAFolderForEachGroup) {
    EXPECT_TRUE(isSeriesRevision("*") && isSeriesRevision("stage1-*"));
    EXPECT_FALSE(isSeriesRevision("main") || isSeriesRevision(""));
    EXPECT_EQ(seriesGroup("*"), "");
    EXPECT_EQ(seriesGroup("stage1-*"), "stage1");
    EXPECT_TRUE(hubSeriesFolder({"a/b", "*"}).ends_with("/series/a--b"));
    EXPECT_TRUE(hubSeriesFolder({"a/b", "seed2-*"}).ends_with("/series/a--b@seed2"));
}

TEST(Series, LeavesOutFilesThatLie) {
    const TemporaryFolder home("series");
    const std::string weights = home / "weights";
    makeDirectories(weights);
    const auto write = [&](std::int64_t step, const std::string& text) {
        writeTextFile(seriesStepPath(weights, step), text);
    };
    write(1, R"({"name": "step1", "checkpoint": "/nowhere/step1"})");
    write(2, R"({"name": "step2", "checkpoint": "relative"})");
    write(3, R"({"name": 7, "checkpoint": "/x"})");
    write(4, "[");
    write(5, R"({"name": "step5", "checkpoint": "hub:../x"})");
    writeTextFile(weights + "/step-x.json", "{}");
    const KeptWeights kept(home / "");
    ASSERT_EQ(kept.steps().size(), 1u);
    EXPECT_EQ(kept.steps()[0].form, KeptForm::External);
    EXPECT_FALSE(kept.steps()[0].here);
    EXPECT_TRUE(kept.localSteps().empty());
    EXPECT_EQ(kept.problems().size(), 4u);
    EXPECT_THROW(kept.load(1), FileError);
}

}  // namespace
}  // namespace relascope
