// SPDX-License-Identifier: GPL-3.0-or-later
// Attention for few tokens: the forward pass, and how heads are divided among blocks.
#include "model/kernels/small.h"

#include "model/kernels/small_block.cuh"
#include "model/kernels/small_launch.cuh"

namespace relascope::core::kernels {
namespace {

template <class T>
__device__ void writeOutputs(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries;
    const auto mix = [&](int h, int i0, int c, T(&sums)[kBand]) {
        const T* weights = block.at(z.weights) + h * n * z.cellRow;
        const T* s = block.at(z.s) + h / z.share * z.symbols * z.valueRow + c;
        if (x.maxOffset < 0) {
            addRows(weights, z.cellRow, s, z.valueRow, i0, n, block.end(i0 + kBand - 1), sums);
        } else {
#pragma unroll
            for (int t = 0; t < kBand; ++t) {
                const int i = min(i0 + t, n - 1);
                for (int j = 0; j < block.end(i); ++j)
                    sums[t] += weights[i * z.cellRow + j] * s[symbolOf(block, i, j) * z.valueRow];
            }
        }
        if (x.relations == 0) return;
        const T* wr = rowOf<const T>(block.part.wr, 0, c, block.head0 + h);
        addRows(block.at(z.related) + h * n * x.relations, x.relations, wr, 1, i0, n, x.relations,
                sums);
    };
    forEachBand<T>(z.heads, n, x.valueDim, mix, [&](int h, int i, int c, T sum) {
        rowOf<T>(x.out, block.b, i, block.head0 + h)[c] = sum;
    });
}

template <class T>
__global__ void __launch_bounds__(kSmallMostThreads)
    smallForward(const __grid_constant__ SmallLaunch launch) {
    DYNAMIC_SHARED(T, shared);
    const int which = static_cast<int>(blockIdx.y) < launch.firstGroups ? 0 : 1;
    const SmallBlock<T> block(launch.args.parts[which], launch.splits[which],
                              blockIdx.y - which * launch.firstGroups, false, shared);
    const RelArgs& x = block.x;
    const auto activate = [&](T u) { return activated(x.activation, u); };
    const auto same = [](T r) { return r; };
    loadHeads(block);
    if (x.relations > 0) loadRelations(block, 0);
    __syncthreads();
    computeScores(block);
    if (x.relations > 0) computeCells(block, 0, activate);
    __syncthreads();
    softmaxRows<false>(block, keyOf(x.philox));
    __syncthreads();
    for (int l0 = 0; l0 < x.relations; l0 += block.z.chunk) {
        if (l0 > 0) {
            loadRelations(block, l0);
            __syncthreads();
            computeCells(block, l0, activate);
            __syncthreads();
        }
        mixRelations(block, block.relationsAt(l0), l0, x.relations, same);
        __syncthreads();
    }
    writeOutputs(block);
}

/// The first split that fits, from few blocks with all relations at once to many.
SmallSplit splitOf(const SmallPart& part, bool backward, std::size_t limit) {
    const RelArgs& x = part.rel;
    const std::size_t size = x.type == DataType::Float64 ? 8 : 4;
    for (const int keyHeads : {x.keyHeads, 1})
        for (int chunk = x.relations;; chunk = (chunk + 1) / 2) {
            const SmallSplit split{keyHeads, chunk};
            if (size * SmallSizes(part, split, backward).numbers <= limit) return split;
            if (chunk <= 1) break;
        }
    return {};
}

bool isServable(const SmallPart& part) {
    const RelArgs& x = part.rel;
    return isConsistent(x) && (x.type == DataType::Float32 || x.type == DataType::Float64) &&
           x.queries > 0 && (!part.symmetric || x.queries == x.keys) &&
           // Beyond all shared memory, and sizes are counted without overflow below.
           x.queries <= 4096 && x.keys <= 4096;
}

}  // namespace

SmallLaunchPlan smallLaunchPlan(const SmallArgs& args, bool backward) {
    SmallLaunchPlan plan;
    if (args.count < 1 || args.count > 2) return plan;
    plan.launch.args = args;
    for (int i = 0; i < args.count; ++i) {
        const SmallPart& part = args.parts[i];
        const RelArgs& x = part.rel;
        const RelArgs& other = args.parts[0].rel;
        if (!isServable(part) || x.type != other.type || x.batch != other.batch) return plan;
        const auto split = splitOf(part, backward, args.sharedLimit);
        if (split.keyHeads == 0) return plan;
        const int groups = x.keyHeads / split.keyHeads;
        plan.launch.splits[i] = split;
        if (i == 0) plan.launch.firstGroups = groups;
        plan.groups += groups;
        const std::size_t size = x.type == DataType::Float64 ? 8 : 4;
        plan.bytes = std::max(plan.bytes, size * SmallSizes(part, split, backward).numbers);
    }
    plan.valid = true;
    return plan;
}

SmallPlan smallPlan(const SmallPart& part, std::size_t sharedLimit) {
    SmallArgs args;
    args.parts[0] = part, args.sharedLimit = sharedLimit;
    const auto forward = smallLaunchPlan(args, false), backward = smallLaunchPlan(args, true);
    return {forward.groups, backward.groups, forward.bytes, backward.bytes};
}

int launchSmallForward(const SmallArgs* args, void* stream) {
    return launchSmall(*args, false, KERNELS(smallForward), stream);
}

}  // namespace relascope::core::kernels
