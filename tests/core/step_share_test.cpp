// SPDX-License-Identifier: GPL-3.0-or-later
// One run by several processes: how its steps are divided, and what each of them needs.
#include "options/step_share.h"

#include <gtest/gtest.h>

#include "options/estimates.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "train/devices.h"
#include "train/out_of_memory.h"
#include "types/error.h"

namespace relascope {
namespace {

using testing_support::tinyOptions;

constexpr double kMiB = 1024.0 * 1024.0;

RunOptions on(RunOptions options, const std::string& device) {
    options.train.device = device;
    return options;
}

double bytes(const RunOptions& options) {
    return static_cast<double>(trainingBytes(options));
}

TEST(StepShare, TheBatchIsSplitUnlessBatchesGoRound) {
    auto o = tinyOptions();
    o.train.batch_size = 10;
    EXPECT_EQ(rankBatch(o, {1, 1}), 10);
    EXPECT_EQ(rankBatch(o, {4, 1}), 3) << "the largest share of 3, 3, 2, 2";
    EXPECT_EQ(rankBatch(o, {10, 1}), 1);
    o.train.tokens_per_step = 2 * static_cast<std::int64_t>(tokensPerStep(o));
    ASSERT_EQ(stepBatches(o), 2);
    EXPECT_EQ(rankBatch(o, {2, 1}), 10);
}

TEST(StepShare, RanksAreThoseThatTheDevicesName) {
    const auto o = tinyOptions();
    EXPECT_EQ(ranksOf(on(o, "auto")), (Ranks{1, 1}));
    EXPECT_EQ(ranksOf(on(o, "cuda:0,cuda:3")), (Ranks{2, 1}));
    EXPECT_EQ(ranksOf(on(o, "cpu")), (Ranks{1, 1}));
    EXPECT_EQ(ranksOf(on(o, "cpu,cpu,cpu")), (Ranks{3, 3})) << "they share the memory";
    EXPECT_EQ(ranksOf(on(o, "cpu,nothing")), (Ranks{1, 1})) << "a problem of the field";
}

TEST(StepShare, ABatchSmallerThanTheRanksIsAProblemOfTheBatch) {
    auto o = on(tinyOptions(), "cpu,cpu,cpu,cpu");
    o.train.batch_size = 4;
    EXPECT_NO_THROW(o.check());
    o.train.batch_size = 3;
    const auto found = o.problems();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].field, "train.batch_size");
    EXPECT_EQ(
        found[0].message,
        "3 is fewer than the 4 processes that share each batch; give 4 or more, or name fewer "
        "devices");
    EXPECT_THROW(checkRanks(o, 4), OptionError);
    EXPECT_NO_THROW(checkRanks(o, 3));
    EXPECT_NO_THROW(on(o, "cpu").check());
}

// Tokens of a step, by batches of `o`.
std::int64_t tokensOf(const RunOptions& o, std::int64_t batches) {
    return batches * o.train.batch_size * static_cast<std::int64_t>(exampleTokens(o));
}

TEST(StepShare, BatchesThatCannotGoRoundNameTheNearestTokensPerStep) {
    auto o = on(presetOptions("lm-343m"), "cuda:0,cuda:1,cuda:2");
    const auto nearest = [&](std::int64_t batches) -> std::int64_t {
        o.train.tokens_per_step = tokensOf(o, batches) - 5;  // rounded up to whole batches
        EXPECT_EQ(stepBatches(o), batches);
        for (const auto& problem : o.problems()) {
            EXPECT_EQ(problem.field, "train.tokens_per_step");
            const std::string words = "the nearest value is ";
            return std::stoll(problem.message.substr(problem.message.find(words) + words.size()));
        }
        return 0;
    };
    EXPECT_EQ(nearest(3), 0);
    EXPECT_EQ(nearest(6), 0);
    EXPECT_EQ(nearest(1), 0) << "one batch is split";
    EXPECT_EQ(nearest(2), tokensOf(o, 3)) << "there is no multiple below";
    EXPECT_EQ(nearest(4), tokensOf(o, 3));
    EXPECT_EQ(nearest(5), tokensOf(o, 6));
    for (const std::int64_t batches : {2, 4, 5, 7}) {  // and the value named is one
        o.train.tokens_per_step = nearest(batches);
        EXPECT_NO_THROW(o.check());
    }
    o.train.batch_size = 1, o.train.tokens_per_step = tokensOf(o, 3);
    EXPECT_NO_THROW(o.check()) << "whole batches go round, however small";
}

TEST(StepShare, IsNotAskedOfOptionsThatAreWrongThemselves) {
    auto o = on(presetOptions("lm-343m"), "cuda:0,cuda:1");
    o.train.batch_size = 0;
    EXPECT_NO_THROW(o.problems());
    o.train.batch_size = 1, o.data.kind = "nothing";
    EXPECT_NO_THROW(o.problems());
}

TEST(RankMemory, IsThatOfOneRank) {
    auto o = presetOptions("lm-343m");
    o.train.tokens_per_step = 0, o.train.batch_size = 8;
    o.train.precision = "float32";  // bfloat16 is kept for the backward pass on the CPU alone
    auto half = o;
    half.train.batch_size = 4;
    EXPECT_EQ(bytes(on(o, "cuda:0,cuda:1")), bytes(half));
    EXPECT_EQ(bytes(on(o, "cpu,cpu")), bytes(half));
    EXPECT_EQ(trainingBytes(o, Ranks{2, 1}), trainingBytes(half));
    half.train.batch_size = 3;
    EXPECT_EQ(bytes(on(o, "cuda:0,cuda:1,cuda:2")), bytes(half)) << "the largest share";
    o.train.tokens_per_step = 524288;
    EXPECT_EQ(bytes(on(o, "cuda:0,cuda:1")), bytes(o)) << "whole batches go round";
}

TEST(RankMemory, ShardedMomentsAreDividedByTheRanks) {
    auto o = presetOptions("lm-1.27b");
    const double moments = 8.0 * static_cast<double>(parameterCount(o.model));
    const auto four = on(o, "cuda:0,cuda:1,cuda:2,cuda:3");
    auto sharded = four;
    sharded.train.sharded_moments = true;
    EXPECT_NEAR(bytes(four) - bytes(sharded), moments * 3 / 4, kMiB);
    EXPECT_NEAR((bytes(four) - bytes(sharded)) / (1024.0 * kMiB), 7.1, 0.05);
    o.train.sharded_moments = true;
    EXPECT_EQ(bytes(on(o, "cuda:0")), bytes(on(presetOptions("lm-1.27b"), "cuda:0")))
        << "one rank keeps all";
    o.train.precision = "float32";
    auto narrow = o;
    narrow.train.precision = "bfloat16";
    EXPECT_NEAR(bytes(narrow) - bytes(o), moments / 4, kMiB) << "autocast's copies of the weights";
}

TEST(RankMemory, OfTheCpuIsSharedByItsRanks) {
    auto o = presetOptions("text");
    o.train.precision = "float32";
    const auto two = on(o, "cpu,cpu");
    const auto each = trainingBytes(two);
    EXPECT_EQ(memoryProblem(two, 2 * each), "");
    const auto problem = memoryProblem(two, 2 * each - 1);
    EXPECT_NE(problem.find("in 2 processes and"), std::string::npos) << problem;
    EXPECT_EQ(memoryProblem(on(o, "cuda:0,cuda:1"), each), "") << "each GPU has its own";
    EXPECT_NE(memoryProblem(on(o, "cuda:0,cuda:1"), each - 1).find("on each device and"),
              std::string::npos);
    const FakeDevicesScope fake({{.name = "cpu", .title = "CPU"}}, [&](const std::string&) {
        return DeviceMemory{2 * each - 1, 2 * each};
    });
    EXPECT_THROW(requireMemory(two, "cpu"), OptionError);
    EXPECT_NO_THROW(requireMemory(two, "cpu", Ranks{2, 1}));
    EXPECT_THROW(requireMemory(on(o, "auto"), "cpu", Ranks{2, 2}), OptionError)
        << "of mpirun or srun";
}

TEST(RankMemory, AdviceKeepsTheRanksBusy) {
    auto o = on(presetOptions("lm-343m"), "cuda:0,cuda:1,cuda:2,cuda:3");
    o.train.tokens_per_step = 0, o.train.batch_size = 32, o.train.activation_checkpointing = false;
    auto smallest = o;
    smallest.train.batch_size = 4;
    EXPECT_NE(memoryProblem(o, trainingBytes(smallest)).find("it fits with train.batch_size=4"),
              std::string::npos);
    // Below it a rank would have nothing; the moments are what is left to save.
    auto sharded = smallest;
    sharded.train.sharded_moments = true;
    const auto advice = memoryProblem(o, trainingBytes(sharded));
    EXPECT_TRUE(advice.ends_with("it fits with train.batch_size=4 with train.sharded_moments=true"))
        << advice;
    auto both = sharded;
    both.train.activation_checkpointing = true;
    EXPECT_TRUE(memoryProblem(o, trainingBytes(both))
                    .ends_with("with train.sharded_moments=true and "
                               "train.activation_checkpointing=true"));
    EXPECT_NE(memoryProblem(o, trainingBytes(both) / 2).find("choose a smaller model"),
              std::string::npos);
    EXPECT_EQ(fittingBatch(o, 0), 16);
    EXPECT_EQ(fittingBatch(smallest, 0), 0) << "two examples are none for two of the ranks";
    EXPECT_EQ(fittingBatch(on(smallest, "auto"), 0), 2);
    EXPECT_EQ(fittingBatch(on(smallest, "auto"), 0, Ranks{4, 1}), 0);
    EXPECT_NE(trainingShortage(smallest, "cuda:1 is out of memory", 0).find("no smaller batch"),
              std::string::npos);
}

TEST(RankMemory, ShardedMomentsAreAnOptionOfSeveralDevices) {
    const auto& field = RunOptions::field("train.sharded_moments");
    auto o = tinyOptions();
    EXPECT_FALSE(field.applies(o));
    EXPECT_TRUE(field.applies(on(o, "cuda:0,cuda:1")));
    o.train.sharded_moments = true;
    EXPECT_TRUE(field.applies(o)) << "mpirun and srun bring the number of processes";
    EXPECT_TRUE(runOptionsFromJson(runOptionsToJson(o)).train.sharded_moments);
}

TEST(DeviceNames, OfAListAreResolvedOneByOne) {
    const FakeDevicesScope fake(
        {{.name = "cpu", .title = "CPU"},
         {.name = "cuda:0", .title = "One"},
         {.name = "cuda:1", .title = "Two"}},
        [](const std::string& name) {
            return name == "cuda:1" ? DeviceMemory{3, 9} : DeviceMemory{5, 9};
        });
    using Names = std::vector<std::string>;
    EXPECT_EQ(resolveDevices("cuda:1, cuda"), (Names{"cuda:1", "cuda:0"}));
    EXPECT_EQ(resolveDevices("auto"), Names{"cuda:0"});
    EXPECT_EQ(resolveDevices("cpu,cpu"), (Names{"cpu", "cpu"}));
    EXPECT_THROW(resolveDevices("cuda:0,cuda:2"), OptionError);
    EXPECT_THROW(resolveDevice("cuda:0,cuda:1"), OptionError);
    EXPECT_EQ(leastFreeMemory({"cuda:0", "cuda:1"}), 3u);
    EXPECT_EQ(leastFreeMemory({"cpu", "cpu"}), 5u);
    EXPECT_EQ(leastFreeMemory({}), 0u);
}

}  // namespace
}  // namespace relascope
