// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU's stand-in for CUDA finds what it promises: small kernels, right ones and broken ones.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/run_rel.h"
#include "model/kernels/platform.cuh"
#include "model/kernels/rel_device.cuh"
#include "model/kernels/rel_launch.cuh"

namespace relascope::core::kernels {
namespace {

constexpr int kCount = 96;
constexpr HostOrder kOrders[] = {HostOrder::Forward, HostOrder::Backward, HostOrder::Shuffled};

enum class Defect { None, MissingBarrier, SkippedBarrier, EarlyReturn, Unwritten, OneBeyond };

// Each thread adds its neighbours' numbers by way of shared memory.
__global__ void neighbours(const float* from, float* to, Defect defect) {
    DYNAMIC_SHARED(float, shared);
    const int i = threadIdx.x;
    if (defect == Defect::EarlyReturn && i == 5) return;
    // What the first block wrote is not there for the second.
    if (defect != Defect::Unwritten || i != 7 || blockIdx.x == 0) shared[i] = from[i];
    if (defect == Defect::OneBeyond && i == kCount - 1) shared[kCount] = 1.0f;
    const bool reaches = defect != Defect::SkippedBarrier || i < 40;
    if (defect != Defect::MissingBarrier && reaches) __syncthreads();
    to[kCount * blockIdx.x + i] = shared[i] + shared[(i + 1) % kCount];
}

std::vector<float> neighboursOf(Defect defect, HostOrder order) {
    const HostDeviceScope scope;
    hostDevice().order = order;
    std::vector<float> from(kCount), to(2 * kCount);
    for (int i = 0; i < kCount; ++i) from[i] = float(i * i);
    LAUNCH(neighbours, 2, kCount, kCount * sizeof(float), nullptr, from.data(), to.data(), defect);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    return to;
}

std::string misuseOf(const std::function<void()>& run) {
    try {
        run();
    } catch (const HostMisuse& misuse) {
        return misuse.what();
    }
    return "";
}

TEST(HostCuda, RunsThreadsInThreeOrders) {
    for (const auto order : kOrders) {
        const auto to = neighboursOf(Defect::None, order);
        for (int i = 0; i < 2 * kCount; ++i) {
            const int j = i % kCount, next = (j + 1) % kCount;
            ASSERT_EQ(to[i], float(j * j + next * next));
        }
    }
}

TEST(HostCuda, MissingBarrierChangesBitsBetweenOrders) {
    const auto forward = neighboursOf(Defect::MissingBarrier, HostOrder::Forward);
    const auto backward = neighboursOf(Defect::MissingBarrier, HostOrder::Backward);
    const auto shuffled = neighboursOf(Defect::MissingBarrier, HostOrder::Shuffled);
    int differing = 0;
    for (int i = 0; i < kCount; ++i)
        differing += __float_as_uint(forward[i]) != __float_as_uint(backward[i]) ||
                     __float_as_uint(forward[i]) != __float_as_uint(shuffled[i]);
    EXPECT_GT(differing, kCount / 2);
}

// Warps that wait for their own lanes equally often: none may find what another one wrote since the
// last barrier.
__global__ void readOfNextWarp(int* to, bool isRight) {
    DYNAMIC_SHARED(int, shared);
    const int i = threadIdx.x;
    __syncwarp();
    shared[i] = i;
    __syncwarp();
    if (isRight) __syncthreads();
    __syncwarp();
    to[i] = shared[(i + warpSize) % kCount];
}

TEST(HostCuda, WarpsRunAheadOfOneAnother) {
    for (const bool isRight : {true, false}) {
        int stale = 0;
        for (const auto order : {HostOrder::Forward, HostOrder::Backward}) {
            const HostDeviceScope scope;
            hostDevice().order = order;
            std::vector<int> to(kCount);
            LAUNCH(readOfNextWarp, 1, kCount, kCount * sizeof(int), nullptr, to.data(), isRight);
            for (int i = 0; i < kCount; ++i) stale += to[i] != (i + warpSize) % kCount;
        }
        EXPECT_EQ(stale, isRight ? 0 : kCount);  // of three warps two, then one
    }
}

TEST(HostCuda, FindsBarriersThatSomeThreadsSkip) {
    for (const auto order : kOrders)
        for (const auto defect : {Defect::SkippedBarrier, Defect::EarlyReturn}) {
            const auto found = misuseOf([&] { neighboursOf(defect, order); });
            EXPECT_NE(found.find("a barrier that only some threads reach"), found.npos) << found;
            EXPECT_NE(found.find("host_cuda_test.cpp:"), found.npos) << found;
        }
    // What waits in the middle of a kernel does no harm to the next one.
    EXPECT_EQ(neighboursOf(Defect::None, HostOrder::Shuffled)[1], 1.0f + 4.0f);
}

TEST(HostCuda, SharedMemoryStartsAsNanInEveryBlock) {
    const auto to = neighboursOf(Defect::Unwritten, HostOrder::Forward);
    EXPECT_FALSE(std::isnan(to[6]));
    EXPECT_FALSE(std::isnan(to[7]));
    EXPECT_TRUE(std::isnan(to[kCount + 6]));
    EXPECT_TRUE(std::isnan(to[kCount + 7]));
    EXPECT_FALSE(std::isnan(to[kCount + 8]));
}

TEST(HostCuda, FindsWritingBeyondSharedMemory) {
#if defined(__SANITIZE_ADDRESS__)
    EXPECT_DEATH(neighboursOf(Defect::OneBeyond, HostOrder::Forward), "heap-buffer-overflow");
#else
    const auto found = misuseOf([] { neighboursOf(Defect::OneBeyond, HostOrder::Forward); });
    EXPECT_NE(found.find("beyond the shared memory of 384 bytes"), found.npos) << found;
#endif
}

__global__ void twoBarriers() {
    if (threadIdx.x < 32) __syncthreads();
    if (threadIdx.x >= 32) __syncthreads();
}

TEST(HostCuda, FindsThreadsAtDifferentBarriers) {
    const auto found = misuseOf([] { LAUNCH(twoBarriers, 1, 64, 0, nullptr); });
    EXPECT_NE(found.find("different barriers"), found.npos) << found;
}

__global__ void touchAll(float* to) {
    DYNAMIC_SHARED(float, shared);
    shared[threadIdx.x] = 1.0f;
    to[threadIdx.x] = shared[threadIdx.x];
}

TEST(HostCuda, RefusesWhatADeviceRefuses) {
    const HostDeviceScope scope;
    std::vector<float> to(1024);
    const auto start = [&](dim3 grid, dim3 threads, std::size_t bytes) {
        LAUNCH(touchAll, grid, threads, bytes, nullptr, to.data());
        return cudaGetLastError();
    };
    EXPECT_EQ(start(1, 32, 48 * 1024), cudaSuccess);
    EXPECT_EQ(start(1, 32, 48 * 1024 + 4), cudaErrorInvalidValue);  // needs the attribute
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);                     // told once
    const auto allow = [](int bytes) {
        return cudaFuncSetAttribute(touchAll, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    };
    EXPECT_EQ(allow(100 * 1024), cudaSuccess);
    EXPECT_EQ(start(1, 32, 100 * 1024), cudaSuccess);
    EXPECT_EQ(start(1, 32, 100 * 1024 + 4), cudaErrorInvalidValue);
    EXPECT_EQ(allow(254 * 1024), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    hostDevice().sharedLimit = 99 * 1024;
    EXPECT_EQ(allow(100 * 1024), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(start(0, 32, 0), cudaErrorInvalidConfiguration);
    EXPECT_EQ(start(dim3(1, 65536), 32, 0), cudaErrorInvalidConfiguration);
    EXPECT_EQ(start(1, 1025, 0), cudaErrorInvalidConfiguration);
}

// As another thread may start the same kernel with fewer bytes in between.
TEST(HostCuda, AnotherLaunchTakesNoSharedMemoryAway) {
    const HostDeviceScope scope;
    float to[32];
    EXPECT_EQ(allowSharedBytes(touchAll, 100 * 1024), cudaSuccess);
    EXPECT_EQ(allowSharedBytes(touchAll, 60 * 1024), cudaSuccess);
    EXPECT_EQ(allowSharedBytes(touchAll, 1024), cudaSuccess);
    LAUNCH(touchAll, 1, 32, 100 * 1024, nullptr, to);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    hostDevice().sharedLimit = 99 * 1024;
    EXPECT_EQ(allowSharedBytes(touchAll, 100 * 1024), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left for nobody else to find";
}

__global__ void lanes(int* to) {
    const int lane = threadIdx.x % 32;
    int* const own = to + 6 * threadIdx.x;
    own[0] = __shfl_sync(kAllLanes, lane, 9, 8);
    own[1] = __shfl_xor_sync(kAllLanes, lane, 3);
    own[2] = __shfl_down_sync(kAllLanes, lane, 5, 16);
    own[3] = __shfl_up_sync(kAllLanes, lane, 5, 16);
    own[4] = laneSum<16>(lane);
    own[5] = laneMax<32>(lane ^ 21);
}

TEST(HostCuda, ShufflesReadOtherLanes) {
    for (const auto order : kOrders) {
        const HostDeviceScope scope;
        hostDevice().order = order;
        std::vector<int> to(6 * 64);
        LAUNCH(lanes, 1, 64, 0, nullptr, to.data());
        for (int i = 0; i < 64; ++i) {
            const int lane = i % 32, group = lane / 16 * 16;
            EXPECT_EQ(to[6 * i], lane / 8 * 8 + 1);
            EXPECT_EQ(to[6 * i + 1], lane ^ 3);
            EXPECT_EQ(to[6 * i + 2], lane + 5 < group + 16 ? lane + 5 : lane);
            EXPECT_EQ(to[6 * i + 3], lane - 5 >= group ? lane - 5 : lane);
            EXPECT_EQ(to[6 * i + 4], group == 0 ? 120 : 376);
            EXPECT_EQ(to[6 * i + 5], 31);
        }
    }
}

__global__ void brokenShuffle(int* to, int kind) {
    const int lane = threadIdx.x;
    if (kind == 0 && lane == 3) return;
    if (kind == 1 && lane >= 16) return;
    const unsigned mask = kind == 1 ? 0xffffu : kAllLanes;
    to[lane] = __shfl_sync(mask, lane, kind == 1 ? 20 : 2);
}

TEST(HostCuda, FindsShufflesThatSomeLanesSkip) {
    std::vector<int> to(32);
    const auto foundIn = [&](int kind) {
        return misuseOf([&] { LAUNCH(brokenShuffle, 1, 32, 0, nullptr, to.data(), kind); });
    };
    EXPECT_NE(foundIn(0).find("only some of its lanes reach"), std::string::npos) << foundIn(0);
    EXPECT_NE(foundIn(1).find("from a lane that takes no part"), std::string::npos) << foundIn(1);
    EXPECT_EQ(foundIn(2), "");
}

__global__ void blocks(int* to, int* count) {
    to[blockIdx.x + 3 * (blockIdx.y + 2 * blockIdx.z)] = atomicAdd(count, 1);
}

TEST(HostCuda, RunsBlocksInThreeOrders) {
    const auto run = [](HostOrder order) {
        const HostDeviceScope scope;
        hostDevice().order = order;
        std::vector<int> to(12);
        int count = 0;
        LAUNCH(blocks, dim3(3, 2, 2), 1, 0, nullptr, to.data(), &count);
        EXPECT_EQ(count, 12);
        return to;
    };
    const auto forward = run(HostOrder::Forward), backward = run(HostOrder::Backward);
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(forward[i], i);
        EXPECT_EQ(backward[i], 11 - i);
    }
    EXPECT_NE(run(HostOrder::Shuffled), forward);
}

}  // namespace
}  // namespace relascope::core::kernels
