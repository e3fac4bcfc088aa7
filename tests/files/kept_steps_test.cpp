// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/kept_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/rooms.h"

namespace relascope {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

std::int64_t mebibytes(std::uint64_t bytes) {
    return std::llround(static_cast<double>(bytes) / static_cast<double>(kMiB));
}

struct Planned {
    const char* name;
    std::int64_t parameters, steps;
    std::size_t kept;
    KeptForm form;
    std::int64_t mebibytes;
};

// Presets with 256 MiB.
TEST(KeptSteps, ArePlannedWithinTheBudget) {
    const Planned all[] = {
        {"relational games, 2,500 images", 388322, 250, 48, KeptForm::Float32, 71},
        {"match pattern, 25,000 images", 388322, 2450, 75, KeptForm::Float32, 111},
        {"pairwise order", 27201, 3200, 78, KeptForm::Float32, 8},
        {"SET", 35521, 22000, 100, KeptForm::Float32, 14},
        {"sorting", 386954, 2400, 74, KeptForm::Float32, 109},
        {"fashion-mnist", 552106, 4690, 82, KeptForm::Float32, 173},
        {"text", 910208, 1000, 64, KeptForm::Float32, 222},
        {"mathematics", 750421, 39100, 107, KeptForm::BFloat16, 153},
        {"cifar10", 6025066, 39100, 32, KeptForm::Xor, 184}};
    for (const auto& one : all) {
        const auto plan = planKeptWeights(one.parameters, one.steps, 256 * kMiB);
        EXPECT_EQ(plan.steps.size(), one.kept) << one.name;
        EXPECT_EQ(plan.form, one.form) << one.name;
        EXPECT_EQ(mebibytes(plan.bytes), one.mebibytes) << one.name;
    }
}

TEST(KeptSteps, AreOffWhereFewerThanTwoADoublingWouldFit) {
    const Planned all[] = {{"text-stories", 31'000'000, 100000, 35, KeptForm::Xor, 1035},
                           {"lm-343m", 345'000'000, 19073, 30, KeptForm::Xor, 9871},
                           {"lm-1.27b", 1'277'000'000, 19073, 30, KeptForm::Xor, 36535}};
    for (const auto& one : all) {
        const auto plan = planKeptWeights(one.parameters, one.steps, 256 * kMiB);
        EXPECT_TRUE(plan.steps.empty()) << one.name;
        EXPECT_EQ(mebibytes(plan.bytes), one.mebibytes) << one.name;
        const auto larger = planKeptWeights(one.parameters, one.steps, plan.bytes);
        EXPECT_EQ(larger.steps.size(), one.kept) << one.name;
        EXPECT_EQ(larger.form, one.form) << one.name;
    }
}

TEST(KeptSteps, BeginWithZeroAndEndWithTheLast) {
    EXPECT_EQ(keptSteps(0, 8), std::vector<std::int64_t>{0});
    EXPECT_EQ(keptSteps(1, 8), (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(keptSteps(12, 2), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 6, 8, 11, 12}));
    for (const int perDoubling : {2, 4, 8})
        for (const std::int64_t steps : {2, 3, 16, 250, 1000000000}) {
            const auto kept = keptSteps(steps, perDoubling);
            EXPECT_EQ(kept.front(), 0);
            EXPECT_EQ(kept.back(), steps);
            EXPECT_EQ(std::adjacent_find(kept.begin(), kept.end(), std::greater_equal<>()),
                      kept.end());
            const auto plan = planKeptWeights(1, steps, kMiB);
            for (const auto step : plan.steps) EXPECT_TRUE(plan.keeps(step));
            EXPECT_FALSE(plan.keeps(steps + 1));
        }
}

TEST(KeptSteps, ThePlanIsASentence) {
    EXPECT_EQ(keptPlanText(planKeptWeights(388322, 250, 256 * kMiB)),
              "48 steps in float32, 72 MiB");
    EXPECT_EQ(keptPlanText(planKeptWeights(750421, 39100, 256 * kMiB)),
              "107 steps in bfloat16, 154 MiB");
    EXPECT_EQ(keptPlanText(planKeptWeights(6025066, 39100, 256 * kMiB)),
              "32 steps in compressed bfloat16, about 184 MiB");
    EXPECT_EQ(keptPlanText(planKeptWeights(31'000'000, 100000, 256 * kMiB)),
              "off: 1,035 MiB would be needed");
}

TEST(KeptSteps, TheStepBetweenTheNearestNeighboursGoes) {
    const auto all = [](std::int64_t) { return true; };
    EXPECT_EQ(leastMissedStep({}, all), -1);
    EXPECT_EQ(leastMissedStep({0, 5}, all), -1);
    EXPECT_EQ(leastMissedStep({0, 5, 9}, all), 1);
    EXPECT_EQ(leastMissedStep({0, 1, 2, 4, 8, 15, 16, 17, 32}, all), 6);
    EXPECT_EQ(leastMissedStep({0, 1, 2, 4, 8, 15, 16, 17, 32},
                              [](std::int64_t step) { return step != 16; }),
              5);
    EXPECT_EQ(leastMissedStep({0, 5, 9}, [](std::int64_t) { return false; }), -1);
}

}  // namespace
}  // namespace relascope
