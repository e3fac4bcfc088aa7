// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/byte_planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "support/rooms.h"

namespace relascope {
namespace {

std::vector<std::uint8_t> someNumbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0f, 0.05f);
    std::vector<std::uint8_t> bytes(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const float value = normal(random);
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, 4);
        bytes[2 * i] = static_cast<std::uint8_t>(bits >> 16);
        bytes[2 * i + 1] = static_cast<std::uint8_t>(bits >> 24);
    }
    return bytes;
}

TEST(BytePlanes, ComeBackAsTheyWere) {
    for (const std::size_t count : {0u, 1u, 2u, 7u, 32768u, 32769u, 200000u}) {
        const auto base = someNumbers(count, 1), values = someNumbers(count, 2);
        auto alone = std::vector<std::uint8_t>(values.size());
        ASSERT_TRUE(unpackPlanes(packPlanes(values, {}), alone));
        EXPECT_EQ(alone, values);
        auto changed = base;
        ASSERT_TRUE(unpackPlanes(packPlanes(values, base), changed));
        EXPECT_EQ(changed, values);
    }
}

TEST(BytePlanes, ALittleChangedTakesLittle) {
    const auto base = someNumbers(100000, 1);
    auto values = base;
    for (std::size_t i = 0; i < values.size(); i += 20) values[i] ^= 1;
    EXPECT_LT(packPlanes(values, base).size(), values.size() / 4);
    EXPECT_LE(base.size(), mostUnpacked(packPlanes(base, base).size()));
}

TEST(BytePlanes, RefuseWhatIsNoStreamOfThatLength) {
    const auto values = someNumbers(5000, 3);
    const auto packed = packPlanes(values, {});
    std::vector<std::uint8_t> out(values.size()), longer(values.size() + 2),
        shorter(values.size() - 2);
    EXPECT_FALSE(unpackPlanes(packed, longer));
    EXPECT_FALSE(unpackPlanes(packed, shorter));
    EXPECT_FALSE(unpackPlanes({}, out));
    for (const std::size_t cut : {1u, 5u, 1000u})
        EXPECT_FALSE(unpackPlanes(std::span(packed).first(packed.size() - cut), out));
    auto more = packed;
    more.push_back(0);
    EXPECT_FALSE(unpackPlanes(more, out));
    std::vector<std::uint8_t> none;
    EXPECT_FALSE(unpackPlanes(packed, none));
}

}  // namespace
}  // namespace relascope
