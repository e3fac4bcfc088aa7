// SPDX-License-Identifier: GPL-3.0-or-later
// The random numbers that every generator draws.
#include "datasets/generators/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "support/rooms.h"

namespace relascope {
namespace {

TEST(Random, GaussianHasTheMomentsAndTailsOfTheNormal) {
    SplitMix random(1, 2);
    constexpr int n = 200000;
    double sum = 0, square = 0, third = 0, fourth = 0;
    int beyondOne = 0, beyondTwo = 0;
    for (int i = 0; i < n; ++i) {
        const double x = random.gaussian();
        ASSERT_TRUE(std::isfinite(x));
        sum += x, square += x * x, third += x * x * x, fourth += x * x * x * x;
        beyondOne += std::abs(x) > 1.0, beyondTwo += std::abs(x) > 2.0;
    }
    EXPECT_NEAR(sum / n, 0.0, 0.012);
    EXPECT_NEAR(square / n, 1.0, 0.02);
    EXPECT_NEAR(third / n, 0.0, 0.05);
    EXPECT_NEAR(fourth / n, 3.0, 0.15);
    EXPECT_NEAR(beyondOne / double(n), 0.3173, 0.006);
    EXPECT_NEAR(beyondTwo / double(n), 0.0455, 0.003);
}

TEST(Random, BetweenMeetsBothEndsAndNothingElse) {
    SplitMix random(3, 4);
    std::map<std::int64_t, int> seen;
    for (int i = 0; i < 70000; ++i) ++seen[random.between(-3, 3)];
    EXPECT_EQ(seen.size(), 7u);
    EXPECT_EQ(seen.begin()->first, -3);
    for (const auto& [value, count] : seen) EXPECT_NEAR(count, 10000, 500) << value;
    EXPECT_EQ(random.between(5, 5), 5);
}

TEST(Random, ShuffleIsUniform) {
    SplitMix random(5, 6);
    std::map<std::array<int, 4>, int> seen;
    for (int i = 0; i < 24000; ++i) {
        std::array<int, 4> items = {0, 1, 2, 3};
        random.shuffle(items);
        ++seen[items];
    }
    EXPECT_EQ(seen.size(), 24u);
    for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 170);
}

TEST(Permutation, MeetsEveryNumberOnce) {
    for (const std::uint64_t size : {1u, 2u, 3u, 7u, 64u, 1000u, 4032u}) {
        const Permutation permutation(size, 9, 1);
        std::vector<int> seen(size);
        for (std::uint64_t i = 0; i < size; ++i) {
            ASSERT_LT(permutation(i), size);
            ++seen[permutation(i)];
        }
        EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), static_cast<int>(size));
        for (const int count : seen) EXPECT_EQ(count, 1);
    }
}

TEST(Permutation, RefusesANumberOutOfRange) {
    const Permutation permutation(1000, 9, 1);
    EXPECT_THROW(permutation(1000), std::out_of_range);
    EXPECT_THROW(permutation(1'000'000), std::out_of_range);
    EXPECT_THROW(permutation(~std::uint64_t{0}), std::out_of_range);
}

TEST(Permutation, SpreadsAndDependsOnSeedAndStream) {
    constexpr std::uint64_t size = 100000;
    const Permutation a(size, 1, 1), same(size, 1, 1), seed(size, 2, 1), stream(size, 1, 2);
    double firstTenth = 0;
    int equalSeed = 0, equalStream = 0, ascending = 0;
    for (std::uint64_t i = 0; i < size / 10; ++i) {
        ASSERT_EQ(a(i), same(i));
        firstTenth += static_cast<double>(a(i)) / size;
        equalSeed += a(i) == seed(i), equalStream += a(i) == stream(i);
        ascending += a(i) < a(i + 1);
    }
    EXPECT_NEAR(firstTenth / (size / 10.0), 0.5, 0.015) << "the beginning is a sample of the whole";
    EXPECT_LT(equalSeed + equalStream, 10);
    EXPECT_NEAR(ascending, size / 20.0, 250);
}

}  // namespace
}  // namespace relascope
