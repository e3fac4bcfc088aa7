// SPDX-License-Identifier: GPL-3.0-or-later
// What a look inside a model takes is known before it is taken, and refused where it does not fit.
#include "probe/probe_memory.h"

#include <gtest/gtest.h>

#include "files/memory.h"
#include "model/factory.h"
#include "options/presets.h"
#include "probe/probe.h"
#include "support/rooms.h"
#include "types/error.h"

namespace relascope {
namespace {

TEST(ProbeMemory, CountsEveryMap) {
    auto model = presetOptions("text", "dat").model;
    model.set("max_block_size", 4096);
    const double maps = static_cast<double>(
        model.number("n_layers") * (model.number("n_heads_sa") + model.number("n_heads_ra") +
                                    model.get<BlockOptions>().relations()));
    const double bytes = static_cast<double>(probeBytes(model, 1024));
    EXPECT_GT(bytes, maps * 1024.0 * 1024.0 * 4.0);
    EXPECT_LT(bytes, 4.0 * maps * 1024.0 * 1024.0 * 4.0);
    // 24 layers of 80 maps: 8 GB, and it was seen to take 19 with a copy of each.
    const auto large = presetOptions("lm-343m", "dat").model;
    EXPECT_GT(probeBytes(large, 1024), 8'000'000'000U);
    EXPECT_LT(probeBytes(large, 1024), 12'000'000'000U);
}

TEST(ProbeMemory, TheLongestProbeIsTheLongestThatFits) {
    auto model = presetOptions("lm-343m", "dat").model;
    for (const std::uint64_t bytes : {200'000'000ULL, 2'000'000'000ULL, 7'000'000'000ULL}) {
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
