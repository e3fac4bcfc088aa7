// SPDX-License-Identifier: GPL-3.0-or-later
// The backward pass of relational attention on tensor cores for the keys: dk, ds and dkRel.
#pragma once

#include "model/kernels/rel_tensor_columns_tiles.cuh"
#include "model/kernels/rel_tensor_rows.cuh"

namespace relascope::core::kernels {

/// lse of 16 queries in the lower lanes, delta in the upper ones. Queries that are not there get no
/// weight.
template <class S>
__device__ inline float loadRowNumber(const RelArgs& x, const TensorTile& tile, int query0) {
    const bool isLse = laneOf() < 16;
    const int query = query0 + laneOf() % 16;
    if (query >= x.queries) return isLse ? INFINITY : 0.0f;
    return static_cast<const float*>(isLse ? x.lse
                                           : x.delta)[rowIndex(x, tile.b, headOf<S>(tile), query)];
}

/// Bit 8 octet + 4 e + 2 half: whether the lane's cell of query 8 octet + 2 t + e and key g + 8
/// half is dropped. A call of the generator serves the keys 2 (g / 2) + {0, 1, 8, 9}: two lanes
/// share them, with an octet of queries each.
template <class S>
__device__ inline std::uint32_t droppedColumns(const RelArgs& x, const TensorTile& tile) {
    const int g = laneOf() / 4, t = laneOf() % 4;
    const auto key = keyOf(x.philox);
    std::uint32_t own = 0;
#pragma unroll 1
    for (int e = 0; e < 2; ++e) {
        const int query = tile.query0 + 8 * (g % 2) + 2 * t + e;
        const auto random = dropoutWords(key, rowIndex(x, tile.b, headOf<S>(tile), query),
                                         static_cast<std::uint32_t>(tile.key0 / 32 * 4 + g / 2));
        const bool upper = tile.key0 % 32 != 0;
        const std::uint32_t words[2] = {upper ? random.z : random.x, upper ? random.w : random.y};
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const bool even = (words[half] & 0xffffu) < x.dropThreshold;
            const bool odd = words[half] >> 16 < x.dropThreshold;
            own |= (std::uint32_t{even} | std::uint32_t{odd} << 1) << (4 * e + 2 * half);
        }
    }
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, own, 4);
    return (g % 2 == 0 ? own | other << 8 : other | own << 8) >> (g % 2);
}

/// Scores [keys, queries] become alpha; the weights that dropout keeps become fragments and go to
/// shared memory, without its factor.
template <class S>
__device__ inline void remakeColumnWeights(const RelArgs& x, const TensorTile& tile,
                                           float rowNumber, std::uint32_t dropped,
                                           float (&scores)[1][S::kOctets][4],
                                           std::uint32_t (&to)[1][1][4], std::uint16_t* weights) {
    const int g = laneOf() / 4, t = laneOf() % 4;
    const float scale = static_cast<float>(x.scale) * 1.4426950408889634f;
#pragma unroll
    for (int octet = 0; octet < S::kOctets; ++octet) {
        float kept[4];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            const int row = 8 * octet + 2 * t + e, query = tile.query0 + row;
            const float lse = __shfl_sync(kAllLanes, rowNumber, row) * 1.4426950408889634f;
            const int last = x.causal ? min(x.keys - 1, query + x.first) : x.keys - 1;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                float& score = scores[0][octet][2 * half + e];
                const int column = tile.key0 + g + 8 * half;
                score = column <= last ? exp2f(score * scale - lse) : 0.0f;
                kept[2 * half + e] = dropped >> (8 * octet + 4 * e + 2 * half) & 1u ? 0.0f : score;
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const auto pair = packed(typename S::Format{}, kept[2 * half], kept[2 * half + 1]);
            to[0][0][half + 2 * octet] = pair;
            std::uint16_t* const cell = weights + (8 * octet + 2 * t) * S::kWeightRow +
                                        swizzled<S::kOctets>(warpOf(), half) + g;
            cell[0] = static_cast<std::uint16_t>(pair);
            cell[S::kWeightRow] = static_cast<std::uint16_t>(pair >> 16);
        }
    }
}

/// The warp's relations of the tile to shared memory.
template <class S, bool Identity>
__device__ inline void makeColumnRelations(const RelArgs& x, const TensorTile& tile,
                                           const ColumnsState<S>& state, const std::uint16_t* qRel,
                                           std::uint16_t* relations) {
    const int lane = laneOf(), g = lane / 4, t = lane % 4;
    const auto scale = static_cast<float>(x.relScale);
    // Keys that are read again, for many relations at once, would take the registers.
#pragma unroll(S::kGrouped ? 1 : S::kOwnRelations / 2)
    for (int own = 0; own < S::kOwnRelations; own += 2) {
        std::uint32_t rows[4];  // of two relations
        loadMatrix(rows, qRel + swizzled<S::kOwnRelations>(lane % 16, own + lane / 16));
        float cells[4][4];  // two octets of queries each
        std::uint32_t kRel[2][2];
        loadKeyRelation<S>(x, tile, state, own, kRel[0]);
        loadKeyRelation<S>(x, tile, state, own + 1, kRel[1]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t queries[2] = {rows[i / 2 * 2], rows[i / 2 * 2 + 1]};
#pragma unroll
            for (int c = 0; c < 4; ++c) cells[i][c] = 0.0f;
            mma8(typename S::Format{}, cells[i], queries, kRel[i / 2][i % 2]);
#pragma unroll
            for (int c = 0; c < 4; ++c) cells[i][c] *= scale;
        }
        if constexpr (!Identity) activateCells<false>(x.activation, cells);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int l = warpOf() * S::kOwnRelations + own + i / 2;
            std::uint16_t* const to =
                relations + g * S::kRelationRow + 2 * t + swizzled<S::kOctets>(l, i % 2);
            storePair(to, packed(typename S::Format{}, cells[i][0], cells[i][1]));
            storePair(to + 8 * S::kRelationRow,
                      packed(typename S::Format{}, cells[i][2], cells[i][3]));
        }
    }
}

/// dkRel of the warp's relations += e qRel; without identity e is multiplied by the derivatives of
/// the activation first, from products made anew.
template <class S, bool Identity>
__device__ inline void addToKeyRelations(const RelArgs& x, const TensorTile& tile,
                                         ColumnsState<S>& state, const std::uint16_t* qRel,
                                         const std::uint16_t* relations) {
    const int lane = laneOf();
    const auto scale = static_cast<float>(x.relScale);
#pragma unroll
    for (int own = 0; own < S::kOwnRelations; own += 2) {
        float slopes[4][4];  // [keys, queries]: two relations of two octets of queries
        const std::uint16_t* const rows =
            qRel + swizzled<S::kOwnRelations>(lane % 16, own + lane / 16);
        if constexpr (!Identity) {
            std::uint32_t queries[4], kRel[2][2];
            loadMatrix(queries, rows);
            loadKeyRelation<S>(x, tile, state, own, kRel[0]);
            loadKeyRelation<S>(x, tile, state, own + 1, kRel[1]);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int c = 0; c < 4; ++c) slopes[i][c] = 0.0f;
                mma8(typename S::Format{}, slopes[i], kRel[i / 2], queries[i]);
#pragma unroll
                for (int c = 0; c < 4; ++c) slopes[i][c] *= scale;
            }
            activateCells<true>(x.activation, slopes);
        }
        std::uint32_t queries[4];  // [queries, relDim] of both relations
        loadMatrixTransposed(queries, rows);
#pragma unroll
        for (int each = 0; each < 2; ++each) {
            std::uint32_t e[4];  // [keys, queries]
            loadMatrixTransposed(
                e,
                relations + (lane % 8 + lane / 16 * 8) * S::kRelationRow +
                    swizzled<S::kOctets>(warpOf() * S::kOwnRelations + own + each, lane / 8 % 2));
            if constexpr (!Identity) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const auto pair = unpacked(typename S::Format{}, e[i]);
                    const auto& slope = slopes[2 * each + i / 2];
                    e[i] = packed(typename S::Format{}, pair.low * slope[i % 2 * 2],
                                  pair.high * slope[i % 2 * 2 + 1]);
                }
            }
            const std::uint32_t own2[2] = {queries[2 * each], queries[2 * each + 1]};
            mma16(typename S::Format{}, state.dkRel[own + each], e, own2);
        }
    }
}

/// dscore [keys, queries] = alpha (keep dA - delta) as fragments.
template <class S>
__device__ inline void columnScoreSlopes(float keep, float rowNumber, std::uint32_t dropped,
                                         const float (&alpha)[1][S::kOctets][4],
                                         const float (&dA)[1][S::kOctets][4], const float* slopes,
                                         std::uint32_t (&to)[1][1][4]) {
    const int g = laneOf() / 4, t = laneOf() % 4;
#pragma unroll
    for (int octet = 0; octet < S::kOctets; ++octet) {
        float slope[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int half = i / 2, e = i % 2, row = 8 * octet + 2 * t + e;
            const float delta = __shfl_sync(kAllLanes, rowNumber, 16 + row);
            const float sum =
                dA[0][octet][i] + slopes[row * ColumnsShared<S>::kSlopeRow +
                                         warpOf() * ColumnsShared<S>::kSlopeHead + g + 8 * half];
            const bool isDropped = dropped >> (8 * octet + 4 * e + 2 * half) & 1u;
            slope[i] = alpha[0][octet][i] * ((isDropped ? 0.0f : keep * sum) - delta);
        }
        to[0][0][2 * octet] = packed(typename S::Format{}, slope[0], slope[1]);
        to[0][0][2 * octet + 1] = packed(typename S::Format{}, slope[2], slope[3]);
    }
}

/// Adds up the two heads of a key head, the first of them dk and the second ds, and writes all.
template <class S>
__device__ inline void writeColumns(const RelArgs& x, const TensorTile& tile, float keep,
                                    const ColumnsState<S>& state, float* passed) {
    static_assert(S::kHeads == 2 * S::kKeyHeads);
    static_assert(4 * S::kWidth / 2 * S::kThreads <= 2 * S::kQueries * S::kRelationRow);
    const int g = laneOf() / 4, t = laneOf() % 4, keyHead = headOf<S>(tile) / 2;
    const bool isSecond = warpOf() % 2 == 1;
    const auto numberOf = [&](int warp, int i) -> float& {
        return passed[(warp * S::kWidth / 2 + i) * 32 + laneOf()];
    };
    __syncthreads();  // nobody reads the relations any more
#pragma unroll
    for (int i = 0; i < S::kWidth / 2; ++i)
        numberOf(warpOf(), i) = isSecond ? state.dk[0][i / 4][i % 4] : state.ds[0][i / 4][i % 4];
    __syncthreads();
    const float factor = isSecond ? keep : static_cast<float>(x.scale);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int key = tile.key0 + g + 8 * half;
        if (key >= x.keys) return;
        std::uint16_t* const to =
            2 * t + (isSecond ? rowOf<std::uint16_t>(x.ds, tile.b, key, keyHead)
                              : rowOf<std::uint16_t>(x.dk, tile.b, key, keyHead));
#pragma unroll
        for (int column = 0; column < S::kWidth / 8; ++column) {
            float sums[2];
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const int i = 2 * half + e;
                sums[e] = (isSecond ? state.ds[0][column][i] : state.dk[0][column][i]) +
                          numberOf(warpOf() ^ 1, 4 * column + i);
            }
            storePair(to + 8 * column,
                      packed(typename S::Format{}, sums[0] * factor, sums[1] * factor));
        }
#pragma unroll
        for (int own = 0; own < S::kOwnRelations; ++own)
            writeRelationPair<S>(x, tile, x.dkRel, x.keys, key, warpOf() * S::kOwnRelations + own,
                                 state.dkRel[own][2 * half], state.dkRel[own][2 * half + 1]);
    }
}

/// One block: dk, ds and dkRel of 16 keys and a group of heads. grid (tiles of keys, batch,
/// groups). Tiles of queries follow one
/// another with the barriers of weights and relations alone: what else a tile overwrites belongs to
/// one warp.
template <class S, bool Identity>
__global__ void __launch_bounds__(S::kThreads, 1) relTensorColumns(RelArgs x) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    static_assert(S::kQueries == 16 && S::kKeys == 16);
    DYNAMIC_SHARED(std::uint16_t, memory);
    const ColumnsShared<S> shared(memory);
    TensorTile tile;
    tile.b = blockIdx.y;
    tile.group = blockIdx.z;
    tile.key0 = blockIdx.x * S::kKeys;
    // The first query that sees a key of the tile.
    tile.query0 = x.causal ? max(0, tile.key0 - x.first) : 0;
    float nextNumber = 0.0f;
    if (tile.query0 < x.queries) {
        copyQueries(x, tile, tile.query0, ColumnsStage<S>(shared, 0));
        nextNumber = loadRowNumber<S>(x, tile, tile.query0);
    }
    commitCopies();
    ColumnsState<S> state;
    startColumns(x, tile, state);
    const float keep = 65536.0f / (65536.0f - static_cast<float>(x.dropThreshold));
    for (int turn = 0; tile.query0 < x.queries;
         tile.query0 += S::kQueries, turn = S::kStages - 1 - turn) {
        const int next = tile.query0 + S::kQueries;
        const ColumnsStage<S> stage(shared, turn);
        waitForCopies<0>();
        __syncwarp();  // the queries are there; all lanes are done with the tile before
        const float rowNumber = nextNumber;
        nextNumber = loadRowNumber<S>(x, tile, next);
        const std::uint32_t dropped = x.dropThreshold != 0 ? droppedColumns<S>(x, tile) : 0u;
        float alpha[1][S::kOctets][4], dA[1][S::kOctets][4];
        multiplyKeys<S>(alpha, state.k, stage.q);
        {
            std::uint32_t weights[1][1][4];
            remakeColumnWeights<S>(x, tile, rowNumber, dropped, alpha, weights, shared.weights);
            mixSymbols<S>(state.ds, weights, stage.dOut);
        }
        multiplyKeys<S>(dA, state.s, stage.dOut);
        __syncwarp();  // all lanes have read dOut
        copyGradients<S>(x, tile, stage.dOut);
        commitCopies();
        if constexpr (S::kStages == 2) {
            if (next < x.queries) copyQueries(x, tile, next, ColumnsStage<S>(shared, 1 - turn));
            commitCopies();
        }
        makeColumnRelations<S, Identity>(x, tile, state, stage.qRel, shared.relations);
        waitForCopies<S::kStages - 1>();
        __syncthreads();  // weights, relations and dRelated are there
#pragma unroll
        for (int own = 0; own < S::kOwnQueries; ++own) {
            const int row = warpOf() * S::kOwnQueries + own;
            slopesOfQuery<S, ColumnsShared<S>::kSlopeHead>(
                static_cast<float>(x.relScale) * keep, stage.dOut + own * S::kHeads * S::kRelations,
                shared.weights + row * S::kWeightRow, shared.relations + row * S::kRelationRow,
                shared.slopes + row * ColumnsShared<S>::kSlopeRow);
        }
        __syncthreads();  // slopes are there; nobody reads weights and dRelated any more
        if (S::kStages == 1 && next < x.queries) copyHead<S>(x, x.dOut, tile, next, stage.dOut);
        addToKeyRelations<S, Identity>(x, tile, state, stage.qRel, shared.relations);
        std::uint32_t slopes[1][1][4];
        columnScoreSlopes<S>(keep, rowNumber, dropped, alpha, dA, shared.slopes, slopes);
        mixSymbols<S>(state.dk, slopes, stage.q);
        if (S::kStages == 1 && next < x.queries) {
            __syncwarp();  // no lane reads the queries any more
            copyHead<S>(x, x.q, tile, next, stage.q);
            copyQueryRelations<S>(x, tile.b, next, stage.qRel);
        }
        commitCopies();
    }
    writeColumns(x, tile, keep, state, reinterpret_cast<float*>(shared.relations));
#endif
}

}  // namespace relascope::core::kernels
