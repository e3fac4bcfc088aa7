// SPDX-License-Identifier: GPL-3.0-or-later
// The forward pass of relational attention on tensor cores.
#pragma once

#include "model/kernels/rel_tensor_tiles.cuh"

namespace relascope::core::kernels {

/// The registers of a warp: its head of all queries of the block, and all heads of its own queries
/// for the relations.
template <class S, bool Identity>
struct TensorState {
    static constexpr int kHeld = Identity ? S::kOwnRelations : 1;
    std::uint32_t q[S::kRowTiles][S::kWidth / 16][4];
    std::uint32_t qRel[S::kRowTiles][kHeld][2];
    float out[S::kRowTiles][S::kWidth / 8][4];
    float related[S::kOwnQueries][S::kRelations / 16][4];
    // Highest scores and sums of rows g and g + 8. Sums are over a lane's own columns.
    float highest[S::kRowTiles][2], sum[S::kRowTiles][2];
    std::uint32_t dropped;  // 8 bits a row: a lane's cells of 32 keys
};

template <class S, bool Identity>
__device__ inline void startState(const RelArgs& x, const TensorTile& tile,
                                  TensorState<S, Identity>& state) {
    const int head = tile.group * S::kHeads + warpOf();
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
        for (int step = 0; step < S::kWidth / 16; ++step)
            loadQueries(state.q[m][step], x, x.q, tile, 16 * m, head, 16 * step);
        if constexpr (Identity) {
#pragma unroll
            for (int l = 0; l < S::kOwnRelations; ++l)
                loadQueries(state.qRel[m][l], x, x.qRel, tile, 16 * m,
                            warpOf() * S::kOwnRelations + l, 0);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            state.highest[m][half] = -INFINITY;
            state.sum[m][half] = 0.0f;
        }
#pragma unroll
        for (int i = 0; i < S::kWidth / 2; ++i) state.out[m][i / 4][i % 4] = 0.0f;
    }
#pragma unroll
    for (int own = 0; own < S::kOwnQueries; ++own)
#pragma unroll
        for (int i = 0; i < S::kRelations / 4; ++i) state.related[own][i / 4][i % 4] = 0.0f;
    state.dropped = 0;
}

/// Bit 8 row + 2 octet + {0, 1}, of rows g + 8 row: the lane's cells that are dropped of the 32
/// keys from key0 on, which is a multiple of 32. The generator's keys are made here, and one row
/// after the other, since all registers are taken.
template <class S>
__device__ inline std::uint32_t droppedCells(const RelArgs& x, const TensorTile& tile) {
    const int g = laneOf() / 4, t = laneOf() % 4, head = tile.group * S::kHeads + warpOf();
    const auto key = keyOf(x.philox);
    std::uint32_t dropped = 0;
#pragma unroll 1
    for (int row = 0; row < 2 * S::kRowTiles; ++row) {
        const auto number = rowIndex(x, tile.b, head, tile.query0 + g + 8 * row);
        const auto random =
            dropoutWords(key, number, static_cast<std::uint32_t>(tile.key0 / 8 + t));
        const std::uint32_t words[4] = {random.x, random.y, random.z, random.w};
#pragma unroll
        for (int octet = 0; octet < 4; ++octet) {
            const bool low = (words[octet] & 0xffffu) < x.dropThreshold;
            const bool high = words[octet] >> 16 < x.dropThreshold;
            dropped |= (std::uint32_t{low} | std::uint32_t{high} << 1) << (8 * row + 2 * octet);
        }
    }
    return dropped;
}

/// One step of the online softmax: scores become weights, in registers and in shared memory, and
/// the sums so far count relative to exp2(highest).
template <class S, bool Identity>
__device__ inline void softmaxStep(const RelArgs& x, const TensorTile& tile,
                                   float (&scores)[S::kRowTiles][S::kOctets][4],
                                   std::uint32_t (&weights)[S::kRowTiles][S::kKeys / 16][4],
                                   TensorState<S, Identity>& state, const TensorShared<S>& shared) {
    const int g = laneOf() / 4, t = laneOf() % 4, head = warpOf();
    // exp(x) = exp2(x log2(e)): the device has exp2 only.
    const float scale = static_cast<float>(x.scale) * 1.4426950408889634f;
    const std::uint32_t dropped = state.dropped >> (tile.key0 % 32 / 4);
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = 16 * m + 8 * half + g;
            const int query = tile.query0 + row;
            const int last = x.causal ? min(x.keys - 1, query + x.first) : x.keys - 1;
            float found = -INFINITY;
#pragma unroll
            for (int i = 0; i < 2 * S::kOctets; ++i) {
                float& score = scores[m][i / 2][2 * half + i % 2];
                const int column = tile.key0 + i / 2 * 8 + 2 * t + i % 2;
                score = column <= last ? score * scale : -INFINITY;
                found = fmaxf(found, score);
            }
            const float before = state.highest[m][half];
            const float highest = fmaxf(before, laneMax<4>(found));
            const float factor = exp2f(before - highest);
            state.highest[m][half] = highest;
            float sum = state.sum[m][half] * factor;
#pragma unroll
            for (int i = 0; i < 2 * S::kOctets; ++i) {
                float& score = scores[m][i / 2][2 * half + i % 2];
                const float weight = exp2f(score - highest);
                sum += weight;
                const bool isDropped = dropped >> (8 * (2 * m + half) + i) & 1u;
                score = isDropped ? 0.0f : weight;
            }
            state.sum[m][half] = sum;
#pragma unroll
            for (int column = 0; column < S::kWidth / 8; ++column) {
                state.out[m][column][2 * half] *= factor;
                state.out[m][column][2 * half + 1] *= factor;
            }
            if (t == 0) shared.factors[row * S::kHeads + head] = factor;
#pragma unroll
            for (int octet = 0; octet < S::kOctets; ++octet) {
                const auto pair = packed(typename S::Format{}, scores[m][octet][2 * half],
                                         scores[m][octet][2 * half + 1]);
                weights[m][octet / 2][half + octet % 2 * 2] = pair;
                storePair(shared.weights + row * S::kWeightRow + swizzled<S::kOctets>(head, octet) +
                              2 * t,
                          pair);
            }
        }
}

/// Writes out and lse, and leaves what the sums of all rows are multiplied by in shared memory. The
/// factor of weights that dropout keeps is in it: in 16 bits it would cost their accuracy.
template <class S, bool Identity>
__device__ inline void writeHeads(const RelArgs& x, const TensorTile& tile,
                                  const TensorState<S, Identity>& state,
                                  const TensorShared<S>& shared) {
    const int g = laneOf() / 4, t = laneOf() % 4, head = tile.group * S::kHeads + warpOf();
    const float keep = 65536.0f / (65536.0f - static_cast<float>(x.dropThreshold));
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float sum = laneSum<4>(state.sum[m][half]);
            const int row = 16 * m + 8 * half + g, query = tile.query0 + row;
            const float factor = keep / sum;
            if (t == 0) shared.factors[row * S::kHeads + warpOf()] = factor;
            if (query >= x.queries) continue;
            if (t == 0)
                static_cast<float*>(x.lse)[rowIndex(x, tile.b, head, query)] =
                    (state.highest[m][half] + log2f(sum)) * 0.69314718055994531f;
            std::uint16_t* const to = rowOf<std::uint16_t>(x.out, tile.b, query, head) + 2 * t;
#pragma unroll
            for (int column = 0; column < S::kWidth / 8; ++column)
                storePair(to + 8 * column,
                          packed(typename S::Format{}, state.out[m][column][2 * half] * factor,
                                 state.out[m][column][2 * half + 1] * factor));
        }
}

template <class S, bool Identity>
__device__ inline void writeRelated(const RelArgs& x, const TensorTile& tile,
                                    const TensorState<S, Identity>& state,
                                    const TensorShared<S>& shared) {
    const int g = laneOf() / 4, t = laneOf() % 4;
#pragma unroll
    for (int own = 0; own < S::kOwnQueries; ++own) {
        const int row = warpOf() * S::kOwnQueries + own, query = tile.query0 + row;
        if (query >= x.queries) return;
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            const int head = 2 * t + e;
            const float factor = shared.factors[row * S::kHeads + head];
            std::uint16_t* const to =
                rowOf<std::uint16_t>(x.related, tile.b, query, tile.group * S::kHeads + head) + g;
#pragma unroll
            for (int part = 0; part < S::kRelations / 16; ++part) {
                const auto pair = packed(typename S::Format{}, state.related[own][part][e] * factor,
                                         state.related[own][part][2 + e] * factor);
                to[16 * part] = static_cast<std::uint16_t>(pair);
                to[16 * part + 8] = static_cast<std::uint16_t>(pair >> 16);
            }
        }
    }
}

/// One block: kQueries queries of a group of heads. grid (tiles of queries, batch, groups).
template <class S, bool Identity>
__global__ void __launch_bounds__(S::kThreads, 1) relTensorForward(RelArgs x) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    DYNAMIC_SHARED(std::uint16_t, memory);
    const TensorShared<S> shared(memory);
    TensorTile tile;
    tile.b = blockIdx.y;
    tile.group = blockIdx.z;
    // Long causal rows first: the last blocks to run are then short ones.
    tile.query0 = (x.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * S::kQueries;
    copyKeys<S>(x, tile, 0, shared.stages);
    TensorState<S, Identity> state;
    startState(x, tile, state);
    const int queries = min(x.queries, tile.query0 + S::kQueries);
    const int end = x.causal ? min(x.keys, queries + x.first) : x.keys;
    for (tile.key0 = 0; tile.key0 < end; tile.key0 += S::kKeys) {
        const int next = tile.key0 + S::kKeys;
        waitForCopies<0>();
        __syncthreads();  // the keys are there; all warps are done with the tile before
        const int turn = S::kStages == 2 ? tile.key0 / S::kKeys % 2 : 0;
        const std::uint16_t* const stage = shared.stages + turn * S::kStageCells;
        if (S::kStages == 2 && next < end)
            copyKeys<S>(x, tile, next, shared.stages + (1 - turn) * S::kStageCells);
        const int keyHead = warpOf() / (S::kHeads / S::kKeyHeads);
        const std::uint16_t* const k = stage + keyHead * S::kKeys * S::kWidth;
        {
            float scores[S::kRowTiles][S::kOctets][4];
            if (x.dropThreshold != 0 && tile.key0 % 32 == 0)
                state.dropped = droppedCells<S>(x, tile);
            multiplyKeys<S>(scores, state.q, k);
            std::uint32_t weights[S::kRowTiles][S::kKeys / 16][4];
            softmaxStep(x, tile, scores, weights, state, shared);
            mixSymbols<S>(state.out, weights, k + S::kKeyCells);
        }
        makeRelations<S, Identity>(x, tile, state.qRel, stage + 2 * S::kKeyCells, shared.relations);
        __syncthreads();  // weights and relations are there; nobody reads the keys any more
        if (S::kStages == 1 && next < end) copyKeys<S>(x, tile, next, shared.stages);
        mixRelations<S>(state.related, shared);
    }
    __syncthreads();  // the factors have been read
    writeHeads(x, tile, state, shared);
    __syncthreads();
    writeRelated(x, tile, state, shared);
#endif
}

}  // namespace relascope::core::kernels
