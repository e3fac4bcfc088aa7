// SPDX-License-Identifier: GPL-3.0-or-later
// The generator of dropout masks and the activations, as functions of a device.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference.h"
#include "kernels/run_rel.h"
#include "model/kernels/rel_device.cuh"

namespace relascope::core::kernels {
namespace {

// The known answers that the generator's authors publish (kat_vectors of Random123).
TEST(Dropout, PhiloxGivesItsKnownAnswers) {
    struct Known {
        PhiloxWords counter;
        std::uint32_t key[2];
        std::uint32_t words[4];
    };
    constexpr std::uint32_t ones = 0xffffffffu;
    const Known known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
        {{ones, ones, ones, ones},
         {ones, ones},
         {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
        {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
         {0xa4093822u, 0x299f31d0u},
         {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}};
    for (const auto& each : known) {
        const auto found = philox(each.counter, each.key[0], each.key[1]);
        const std::uint32_t words[] = {found.x, found.y, found.z, found.w};
        const auto reference =
            referencePhilox({each.counter.x, each.counter.y, each.counter.z, each.counter.w},
                            {each.key[0], each.key[1]});
        for (int i = 0; i < 4; ++i) {
            EXPECT_EQ(words[i], each.words[i]);
            EXPECT_EQ(reference[i], each.words[i]);
        }
    }
}

// The bits of a cell among those of its column.
std::uint32_t bitsOf(PhiloxKey key, std::int64_t row, int j) {
    const auto words = dropoutWords(key, row, static_cast<std::uint32_t>(j / 32 * 4 + j / 2 % 4));
    const std::uint32_t all[] = {words.x, words.y, words.z, words.w};
    return j % 2 == 0 ? all[j / 8 % 4] & 0xffffu : all[j / 8 % 4] >> 16;
}

TEST(Dropout, MasksAgreeWithTheReference) {
    Problem p;
    p.batch = 2, p.heads = 3, p.queries = 5, p.keys = 100;
    // One cell has just these bits, which do not drop it.
    p.dropThreshold = bitsOf({p.seed, p.offset}, 7, 21);
    ASSERT_GT(p.dropThreshold, 0u);
    const auto mask = referenceMask(p);
    const auto key = keyOf(argsOf(p, DataType::Float16).philox);
    for (std::size_t i = 0; i < mask.size(); ++i)
        EXPECT_EQ(bitsOf(key, std::int64_t(i) / p.keys, i % p.keys) < p.dropThreshold, mask[i] == 0)
            << i;
}

// Rows beyond 32 bits have masks of their own.
TEST(Dropout, FarRowsDiffer) {
    const PhiloxKey key{1, 2};
    int same = 0;
    for (int j = 0; j < 64; ++j)
        same += bitsOf(key, 5, j) == bitsOf(key, 5 + (std::int64_t{1} << 32), j);
    EXPECT_LT(same, 3);
}

// Each cell has bits of its own, and as many are dropped as should be.
TEST(Dropout, DropsTheFractionAskedFor) {
    constexpr std::uint32_t threshold = 13107;  // 0.2
    constexpr int rows = 300, keys = 200;
    double dropped = 0;
    for (int row = 0; row < rows; ++row)
        for (int j = 0; j < keys; ++j) dropped += bitsOf({7, 8}, row, j) < threshold;
    // Six standard deviations.
    EXPECT_NEAR(dropped / (rows * keys), 0.2, 6 * std::sqrt(0.16 / (rows * keys)));
}

TEST(Dropout, ReadsTheStateOfACapturedGraph) {
    const std::int64_t seed = -3, offset = 40;
    Philox state;
    state.seedValue = 11, state.offsetValue = 12;
    EXPECT_EQ(keyOf(state).seed, 11u);
    EXPECT_EQ(keyOf(state).offset, 12u);
    state.seed = &seed, state.offset = &offset, state.within = 4, state.captured = true;
    EXPECT_EQ(keyOf(state).seed, std::uint64_t(-3));
    EXPECT_EQ(keyOf(state).offset, 44u);
}

TEST(Activations, AgreeWithTheReferenceAndTheirSlopes) {
    for (const char* name : {"identity", "relu", "sigmoid", "tanh", "gelu", "silu"}) {
        const auto kind = activationOf(name);
        // Beyond 88 a float32 exp overflows.
        for (const double u : {-200.0, -30.0, -4.0, -1.5, -0.3, 0.2, 0.9, 3.0, 40.0, 200.0}) {
            const double expected = referenceActivation(name, u);
            EXPECT_NEAR(activated(kind, u), expected, 1e-14 * std::max(1.0, std::abs(u))) << name;
            EXPECT_NEAR(activated(kind, float(u)), expected, 1e-6 * std::max(1.0, std::abs(u)))
                << name << " " << u;
            const double step = 1e-5;
            const double slope =
                (referenceActivation(name, u + step) - referenceActivation(name, u - step)) /
                (2 * step);
            EXPECT_NEAR(slopeOf(kind, u), slope, 2e-9) << name << " " << u;
            EXPECT_NEAR(slopeOf(kind, float(u)), slope, 1e-5) << name << " " << u;
        }
    }
}

}  // namespace
}  // namespace relascope::core::kernels
