// SPDX-License-Identifier: GPL-3.0-or-later
// Copies to shared memory beside the computation, right ones and broken ones.
#include "model/kernels/async_copy.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/run_rel.h"

namespace relascope::core::kernels {
namespace {

constexpr int kTiles = 5, kThreads = 32, kTile = 4 * kThreads;  // floats
constexpr int kShort = 3;  // the last tile's last thread has less than 4 floats

enum class Defect { None, NoWait, LateWait, NoCommit, NoBarrier, Unaligned, Beyond };

struct alignas(16) Four {
    float x[4];
};

/// to[tile] = the sum of a tile, through two buffers that take turns.
__global__ void sumTiles(const Four* from, float* to, Defect defect) {
    DYNAMIC_SHARED(float, shared);
    const int i = threadIdx.x;
    const auto start = [&](int tile) {
        float* const place = shared + tile % 2 * kTile + 4 * i + (defect == Defect::Unaligned) +
                             (defect == Defect::Beyond ? kTile : 0);
        const bool isShort = tile == kTiles - 1 && i == kThreads - 1;
        copyAsync(place, from + tile * kThreads + i, isShort ? 4 * kShort : 16);
        if (defect != Defect::NoCommit) commitCopies();
    };
    start(0);
    for (int tile = 0; tile < kTiles; ++tile) {
        if (tile + 1 < kTiles) start(tile + 1);
        if (defect == Defect::LateWait)
            waitForCopies<2>();
        else if (tile + 1 < kTiles && defect != Defect::NoWait)
            waitForCopies<1>();
        else if (defect != Defect::NoWait)
            waitForCopies<0>();
        if (defect != Defect::NoBarrier) __syncthreads();
        float sum = 0;
        for (int j = 0; j < kTile; ++j) sum += shared[tile % 2 * kTile + j];
        to[tile * kThreads + i] = sum;
        __syncthreads();
    }
}

std::vector<float> sumsOf(Defect defect, HostOrder order) {
    const HostDeviceScope scope;
    hostDevice().order = order;
    std::vector<Four> from(kTiles * kThreads);
    for (int i = 0; i < kTiles * kTile; ++i) from[i / 4].x[i % 4] = static_cast<float>(i % 7);
    from.back().x[3] = NAN;  // must not be read
    std::vector<float> to(kTiles * kThreads);
    LAUNCH(sumTiles, 1, kThreads, 2 * kTile * sizeof(float), nullptr, from.data(), to.data(),
           defect);
    return to;
}

TEST(AsyncCopy, ArrivesAfterWaitAndBarrier) {
    for (const auto order : {HostOrder::Forward, HostOrder::Backward, HostOrder::Shuffled}) {
        const auto sums = sumsOf(Defect::None, order);
        for (int tile = 0; tile < kTiles; ++tile) {
            float expected = 0;
            for (int j = 0; j < kTile - (tile == kTiles - 1 ? 1 : 0); ++j)
                expected += static_cast<float>((tile * kTile + j) % 7);
            for (int i = 0; i < kThreads; ++i) ASSERT_EQ(sums[tile * kThreads + i], expected);
        }
    }
}

TEST(AsyncCopy, IsNotThereBefore) {
    for (const auto defect : {Defect::NoWait, Defect::LateWait, Defect::NoCommit})
        EXPECT_TRUE(std::isnan(sumsOf(defect, HostOrder::Forward)[0])) << static_cast<int>(defect);
    // Some threads' copies are there already, those of the others are not.
    EXPECT_TRUE(std::isnan(sumsOf(Defect::NoBarrier, HostOrder::Forward)[0]));
    EXPECT_FALSE(std::isnan(sumsOf(Defect::NoBarrier, HostOrder::Forward)[kThreads - 1]));
}

TEST(AsyncCopy, FindsWrongAddresses) {
    const auto misuse = [](Defect defect) -> std::string {
        try {
            sumsOf(defect, HostOrder::Forward);
        } catch (const HostMisuse& found) {
            return found.what();
        }
        return "";
    };
    EXPECT_NE(misuse(Defect::Unaligned).find("not on 16 bytes"), std::string::npos);
    EXPECT_NE(misuse(Defect::Beyond).find("outside the shared memory"), std::string::npos);
}

}  // namespace
}  // namespace relascope::core::kernels
