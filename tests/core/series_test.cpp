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

TEST(Series, OrdersStepsByNumber) {
    using Steps = std::vector<std::pair<std::int64_t, std::string>>;
    EXPECT_EQ(stepsAmong({"main", "chck_10M", "chck_9M", "chck_100M", "chck_500K"}),
              (Steps{{500'000, "chck_500K"},
                     {9'000'000, "chck_9M"},
                     {10'000'000, "chck_10M"},
                     {100'000'000, "chck_100M"}}));
    EXPECT_EQ(stepsAmong({"main", "step143000", "step0", "step512"}),
              (Steps{{0, "step0"}, {512, "step512"}, {143'000, "step143000"}}));
    EXPECT_EQ(stepsAmong({"v1.0", "v2.0", "main"}), Steps{});
    EXPECT_EQ(stepsAmong({"step1", "main"}), Steps{});
    EXPECT_EQ(stepsAmong({"step99999999999999999999", "step9B", "step5", "17"}),
              (Steps{{5, "step5"}, {9'000'000'000, "step9B"}}));
    EXPECT_EQ(stepsAmong({}), Steps{});
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
    EXPECT_EQ(kept.steps()[0].form, KeptForm::Elsewhere);
    EXPECT_FALSE(kept.steps()[0].here);
    EXPECT_TRUE(kept.stepsHere().empty());
    EXPECT_EQ(kept.problems().size(), 4u);
    EXPECT_THROW(kept.load(1), FileError);
}

}  // namespace
}  // namespace relascope
