// SPDX-License-Identifier: GPL-3.0-or-later
// What launches of relational attention refuse, what they take, and empty ones.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/run_rel.h"
#include "model/kernels/rel_ffma.h"

namespace relascope::core::kernels {
namespace {

RelArgs published(int heads, int keyHeads, int relations) {
    RelArgs args;
    args.batch = 1, args.queries = args.keys = 1024;
    args.heads = heads, args.keyHeads = keyHeads;
    args.keyDim = args.valueDim = 64, args.relations = relations, args.relDim = 8;
    return args;
}

TEST(RelLaunch, SharedMemoryOfPublishedModels) {
    const auto middle = relSharedBytes(published(8, 4, 64));  // 343 million parameters
    EXPECT_EQ(middle.forward, 45824u);
    EXPECT_EQ(middle.backwardRows, 49152u);
    EXPECT_EQ(middle.backwardColumns, 81920u);
    EXPECT_EQ(middle.backwardLibrary, 0u);
    const auto large = relSharedBytes(published(16, 8, 128));  // 1.27 billion
    EXPECT_EQ(large.forward, 116224u);
    EXPECT_EQ(large.backwardRows, 90112u);
    EXPECT_EQ(large.backwardColumns, 155648u);
    // All of it fits an H100, in float32 only.
    auto wide = published(16, 8, 128);
    wide.type = DataType::Float64;
    EXPECT_EQ(relSharedBytes(wide).backwardColumns, 2 * 155648u);
}

TEST(RelLaunch, RefusesContradictions) {
    const auto expectRefused = [](const std::function<void(RelArgs&)>& spoil) {
        auto args = published(4, 2, 8);
        spoil(args);
        for (const auto launch : {launchRelForward, launchRelDelta, launchRelBackwardRows,
                                  launchRelBackwardColumns, launchRelBackward})
            EXPECT_EQ(launch(&args, nullptr), cudaErrorInvalidValue);
    };
    expectRefused([](RelArgs& x) { x.keyHeads = 3; });
    expectRefused([](RelArgs& x) { x.keyHeads = 0; });
    expectRefused([](RelArgs& x) { x.keys = 0; });
    expectRefused([](RelArgs& x) { x.relDim = 0; });
    expectRefused([](RelArgs& x) { x.first = -1; });
    expectRefused([](RelArgs& x) { x.maxOffset = -2; });
    expectRefused([](RelArgs& x) { x.dropThreshold = 65536; });
    expectRefused([](RelArgs& x) { x.activation = static_cast<Activation>(6); });
    expectRefused([](RelArgs& x) { x.type = DataType::BFloat16; });
    expectRefused([](RelArgs& x) { x.type = DataType::Float16; });
    expectRefused([](RelArgs& x) { x.type = static_cast<DataType>(4); });
    const auto args = published(4, 2, 8);  // without a library
    EXPECT_EQ(launchRelBackwardLibrary(&args, nullptr), cudaErrorInvalidValue);
}

TEST(RelLaunch, RefusesWhatDoesNotFit) {
    const HostDeviceScope scope;
    auto args = published(16, 8, 128);
    hostDevice().sharedLimit = 99 * 1024;
    EXPECT_EQ(launchRelForward(&args, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launchRelBackwardColumns(&args, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // left for nobody else to find
    args.batch = 70000;                          // more than a grid is high
    hostDevice().sharedLimit = 227 * 1024;
    EXPECT_EQ(launchRelForward(&args, nullptr), cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(RelLaunch, EmptyCallsWriteZeroGradients) {
    auto args = published(4, 2, 8);
    args.batch = 0;
    EXPECT_EQ(launchRelForward(&args, nullptr), cudaSuccess);
    EXPECT_EQ(launchRelBackward(&args, nullptr), cudaSuccess);
    args.batch = 1, args.queries = 0, args.keys = 3;
    std::vector<float> dk(3 * 2 * 64, NAN), ds = dk, dkRel(3 * 8 * 8, NAN);
    args.dk = {dk.data(), 0, 128, 64}, args.ds = {ds.data(), 0, 128, 64};
    args.dkRel = {dkRel.data(), 0, 64, 8};
    EXPECT_EQ(launchRelForward(&args, nullptr), cudaSuccess);
    EXPECT_EQ(launchRelBackward(&args, nullptr), cudaSuccess);
    for (const auto* gradient : {&dk, &ds, &dkRel})
        for (const float value : *gradient) ASSERT_EQ(value, 0.0f);
}

}  // namespace
}  // namespace relascope::core::kernels
