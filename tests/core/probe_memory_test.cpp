// SPDX-License-Identifier: GPL-3.0-or-later
// What a look inside a model takes is known before it is taken, and refused where it does not fit.
#include "probe/probe_memory.h"

#include <gtest/gtest.h>

#include <set>

#include "files/memory.h"
#include "model/architecture.h"
#include "model/model.h"
#include "options/presets.h"
#include "probe/map_factors.h"
#include "probe/probe.h"
#include "support/rooms.h"
#include "types/error.h"

namespace relascope {
namespace {

TEST(ProbeMemory, CountsTheFactorsOfEveryMap) {
    auto model = presetOptions("text", "dat").model;
    model.set("max_block_size", 4096);
    // Factors grow with the length, maps with its square.
    EXPECT_NEAR(static_cast<double>(mapBytes(model, 4096)),
                4.0 * static_cast<double>(mapBytes(model, 1024)), 1e6);
    // 24 layers of 80 maps would be 8 GB.
    const auto large = presetOptions("lm-343m", "dat").model;
    EXPECT_GT(mapBytes(large, 1024), 250'000'000U);
    EXPECT_LT(mapBytes(large, 1024), 600'000'000U);
    EXPECT_LT(probeBytes(large, 1024), 1'300'000'000U);
    // An Abstractor records whole maps.
    const auto whole = presetOptions("sort-argsort", "abstractor").model;
    const auto work = whole.info().work(whole);
    EXPECT_GE(mapBytes(whole, 100),
              static_cast<std::uint64_t>(4 * work.layers * work.heads * 100 * 100));
}

TEST(ProbeMemory, TheEstimateIsNoSmallerThanTheResult) {
    for (const int tokens : {20, 250}) {
        auto options = presetOptions("text", "dat").model;
        const auto model = makeModel(options);
        ProbeSample sample;
        sample.source.tokens.assign(static_cast<std::size_t>(tokens), 1);
        std::uint64_t floats = 0;
        std::set<const MapSource*> sources;
        for (const auto& map : probeModel(*model, options, sample, 0, {}).maps) {
            floats += map.values.size();
            if (const auto* made = dynamic_cast<const FactoredMaps*>(map.source.get()))
                if (sources.insert(made).second) floats += made->factors().floats();
        }
        EXPECT_LE(4 * floats, mapBytes(options, tokens) + (4 << 20)) << tokens;
        EXPECT_GE(4 * floats, mapBytes(options, tokens) / 2) << tokens;
    }
}

TEST(ProbeMemory, TheLongestProbeIsTheLongestThatFits) {
    auto model = presetOptions("lm-343m", "dat").model;
    for (const std::uint64_t bytes : {50'000'000ULL, 200'000'000ULL, 600'000'000ULL}) {
        const auto longest = longestProbe(model, bytes);
        EXPECT_LE(probeBytes(model, longest), bytes);
        EXPECT_GT(probeBytes(model, longest + 1), bytes);
    }
    EXPECT_EQ(longestProbe(model, 1ULL << 40), model.number("max_block_size"));
    EXPECT_EQ(longestProbe(model, 0), 1);
    auto small = presetOptions("text", "dat").model;
    small.set("max_block_size", 2048);
    EXPECT_EQ(longestProbe(small, 16'000'000'000ULL), 2048) << "only memory bounds a text";
}

TEST(ProbeMemory, AProbeThatCannotFitIsRefusedWithItsFigure) {
    auto options = presetOptions("text", "dat").model;
    options.set("max_block_size", 1 << 20);
    options.set("pos_enc_type", "RoPE");
    const auto model = makeModel(options);
    ProbeSample sample;
    sample.source.text = true;
    sample.source.tokens.assign(1 << 20, 1);
    try {
        probeModel(*model, options, sample, 0, {});
        FAIL() << "a million tokens have maps of " << byteText(probeBytes(options, 1 << 20));
    } catch (const OptionError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(byteText(probeBytes(options, 1 << 20))), std::string::npos) << text;
        EXPECT_NE(text.find("shorten it to"), std::string::npos) << text;
    }
}

TEST(ProbeMemory, BytesAreRead) {
    EXPECT_EQ(byteText(210ULL << 20), "210 MiB");
    EXPECT_EQ(byteText(19ULL << 30), "19.0 GiB");
}

}  // namespace
}  // namespace relascope
