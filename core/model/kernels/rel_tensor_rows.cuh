// SPDX-License-Identifier: GPL-3.0-or-later
// The backward pass of relational attention on tensor cores for the queries: dq and dqRel; and the
// sums delta that it needs.
#pragma once

#include "model/kernels/rel_tensor_forward.cuh"

namespace relascope::core::kernels {

/// Shared memory of a block beside that of the forward pass. dRelated is [Queries][Heads,
/// Relations] with eight numbers more for each query; slopes [Queries][Heads, Keys] pass the part
/// of dA that comes from relations on from the warps of queries to those of heads.
template <class S>
struct RowsShared {
    static constexpr int kGradientRow = S::kHeads * S::kRelations + 8;
    static constexpr int kSlopeRow = S::kHeads * S::kKeys + 8;
    static constexpr std::size_t kBytes =
        2 * (S::kStages * S::kStageCells +
             S::kQueries * (S::kRelationRow + S::kWeightRow + kGradientRow)) +
        4 * S::kQueries * kSlopeRow;
    __device__ explicit RowsShared(std::uint16_t* shared)
        : stages(shared),
          relations(stages + S::kStages * S::kStageCells),
          weights(relations + S::kQueries * S::kRelationRow),
          dRelated(weights + S::kQueries * S::kWeightRow),
          slopes(reinterpret_cast<float*>(dRelated + S::kQueries * kGradientRow)) {}
    std::uint16_t *stages, *relations, *weights, *dRelated;
    float* slopes;
};

template <class S>
struct RowsState {
    std::uint32_t q[1][S::kWidth / 16][4], dOut[1][S::kWidth / 16][4];
    float dq[1][S::kWidth / 8][4];
    float dqRel[S::kOwnRelations][4];
    float lse[2], delta[2];  // for rows g and g + 8; lse in base 2
};

template <class S>
__device__ inline void startRows(const RelArgs& x, const TensorTile& tile, RowsState<S>& state,
                                 const RowsShared<S>& shared) {
    const int g = laneOf() / 4, head = headOf<S>(tile);
    constexpr int chunks = S::kRelations / 8;
#pragma unroll 1
    for (int i = threadIdx.x; i < S::kQueries * S::kHeads * chunks; i += S::kThreads) {
        const int chunk = i % chunks, a = i / chunks % S::kHeads, row = i / chunks / S::kHeads;
        const int query = tile.query0 + row;
        const bool valid = query < x.queries;
        copyAsync(shared.dRelated + row * RowsShared<S>::kGradientRow + swizzled<chunks>(a, chunk),
                  rowOf<const std::uint16_t>(x.dRelated, tile.b, valid ? query : 0,
                                             tile.group * S::kHeads + a) +
                      8 * chunk,
                  valid ? 16 : 0);
    }
    commitCopies();
#pragma unroll
    for (int step = 0; step < S::kWidth / 16; ++step) {
        loadQueries(state.q[0][step], x, x.q, tile, 0, head, 16 * step);
        loadQueries(state.dOut[0][step], x, x.dOut, tile, 0, head, 16 * step);
    }
#pragma unroll
    for (int i = 0; i < S::kWidth / 2; ++i) state.dq[0][i / 4][i % 4] = 0.0f;
#pragma unroll
    for (int i = 0; i < 4 * S::kOwnRelations; ++i) state.dqRel[i / 4][i % 4] = 0.0f;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int query = tile.query0 + g + 8 * half;
        const auto row = rowIndex(x, tile.b, head, query);
        const bool valid = query < x.queries;
        state.lse[half] =
            valid ? static_cast<const float*>(x.lse)[row] * 1.4426950408889634f : 0.0f;
        state.delta[half] = valid ? static_cast<const float*>(x.delta)[row] : 0.0f;
    }
}

/// Scores become alpha; the weights that dropout keeps go to shared memory, without its factor.
template <class S>
__device__ inline void remakeWeights(const RelArgs& x, const TensorTile& tile,
                                     std::uint32_t dropped, float (&scores)[1][S::kOctets][4],
                                     const RowsState<S>& state, std::uint16_t* weights) {
    const int g = laneOf() / 4, t = laneOf() % 4, head = warpOf();
    const float scale = static_cast<float>(x.scale) * 1.4426950408889634f;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = g + 8 * half, query = tile.query0 + row;
        const int last = x.causal ? min(x.keys - 1, query + x.first) : x.keys - 1;
#pragma unroll
        for (int octet = 0; octet < S::kOctets; ++octet) {
            float kept[2];
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                float& score = scores[0][octet][2 * half + e];
                const int column = tile.key0 + 8 * octet + 2 * t + e;
                score = column <= last ? exp2f(score * scale - state.lse[half]) : 0.0f;
                kept[e] = dropped >> (8 * half + 2 * octet + e) & 1u ? 0.0f : score;
            }
            storePair(weights + row * S::kWeightRow + swizzled<S::kOctets>(head, octet) + 2 * t,
                      packed(typename S::Format{}, kept[0], kept[1]));
        }
    }
}

/// For one query, by one warp: the relations' part of dA to `slopes` [Heads][SlopeHead], and e_j^l
/// = factor sum_a A_j^a dRelated^a[l] in the place of the relations.
template <class S, int SlopeHead>
__device__ inline void slopesOfQuery(float factor, const std::uint16_t* gradients,
                                     const std::uint16_t* weights, std::uint16_t* relations,
                                     float* slopes) {
    const int lane = laneOf(), g = lane / 4, t = lane % 4;
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};  // [keys, heads]
#pragma unroll
    for (int part = 0; part < S::kRelations / 16; ++part) {
        std::uint32_t cells[4], heads[2];
        loadMatrixTransposed(
            cells,
            relations + swizzled<S::kOctets>(16 * part + lane % 8 + lane / 16 * 8, lane / 8 % 2));
        loadMatrix(heads,
                   gradients + swizzled<S::kRelations / 8>(lane % 8, 2 * part + lane / 8 % 2));
        mma16(typename S::Format{}, sums, cells, heads);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) slopes[(2 * t + i % 2) * SlopeHead + g + 8 * (i / 2)] = sums[i];
    __syncwarp();            // all lanes have read the relations
    std::uint32_t cells[2];  // an octet each
    loadMatrixTransposed(cells, weights + swizzled<S::kOctets>(lane % 8, lane / 8 % 2));
#pragma unroll
    for (int part = 0; part < S::kRelations / 16; ++part) {
        std::uint32_t heads[2];
        loadMatrixTransposed(
            heads, gradients + swizzled<S::kRelations / 8>(lane % 8, 2 * part + lane / 8 % 2));
#pragma unroll
        for (int octet = 0; octet < S::kOctets; ++octet) {
            float e[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            mma8(typename S::Format{}, e, heads, cells[octet]);
#pragma unroll
            for (int half = 0; half < 2; ++half)
                storePair(
                    relations + 2 * t + swizzled<S::kOctets>(16 * part + g + 8 * half, octet),
                    packed(typename S::Format{}, e[2 * half] * factor, e[2 * half + 1] * factor));
        }
    }
}

/// slopesOfQuery() for the warp's own queries.
template <class S>
__device__ inline void slopesOfRelations(float factor, const RowsShared<S>& shared) {
#pragma unroll
    for (int own = 0; own < S::kOwnQueries; ++own) {
        const int row = warpOf() * S::kOwnQueries + own;
        slopesOfQuery<S, S::kKeys>(factor, shared.dRelated + row * RowsShared<S>::kGradientRow,
                                   shared.weights + row * S::kWeightRow,
                                   shared.relations + row * S::kRelationRow,
                                   shared.slopes + row * RowsShared<S>::kSlopeRow);
    }
}

/// dqRel of the warp's relations += e kRel; without identity e is multiplied by the derivatives of
/// the activation first, from products made anew.
template <class S, bool Identity>
__device__ inline void addToQueryRelations(const RelArgs& x, const TensorTile& tile,
                                           float (&dqRel)[S::kOwnRelations][4],
                                           const std::uint16_t* kRel,
                                           const std::uint16_t* relations) {
    const int lane = laneOf(), g = lane / 4, t = lane % 4;
    const auto scale = static_cast<float>(x.relScale);
#pragma unroll
    for (int own = 0; own < S::kOwnRelations; own += 2) {
        const int l0 = warpOf() * S::kOwnRelations + own;
        float slopes[4][4];  // two relations of two octets
        if constexpr (!Identity) {
            std::uint32_t keys[4];
            loadMatrix(keys, kRel + swizzled<S::kRelations>(lane % 16, l0 + lane / 16));
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                std::uint32_t queries[2];
                loadQueries(queries, x, x.qRel, tile, 0, l0 + i / 2, 0);
#pragma unroll
                for (int c = 0; c < 4; ++c) slopes[i][c] = 0.0f;
                mma8(typename S::Format{}, slopes[i], queries, keys[i]);
#pragma unroll
                for (int c = 0; c < 4; ++c) slopes[i][c] *= scale;
            }
            activateCells<true>(x.activation, slopes);
        }
        std::uint32_t keys[4];  // [keys, relDim] of both relations
        loadMatrixTransposed(keys, kRel + swizzled<S::kRelations>(lane % 16, l0 + lane / 16));
#pragma unroll
        for (int each = 0; each < 2; ++each) {
            std::uint32_t e[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int octet = i / 2, half = i % 2;
                e[i] = loadPair(relations + (g + 8 * half) * S::kRelationRow +
                                swizzled<S::kOctets>(l0 + each, octet) + 2 * t);
                if constexpr (!Identity) {
                    const auto pair = unpacked(typename S::Format{}, e[i]);
                    const auto& slope = slopes[2 * each + octet];
                    e[i] = packed(typename S::Format{}, pair.low * slope[2 * half],
                                  pair.high * slope[2 * half + 1]);
                }
            }
            const std::uint32_t own2[2] = {keys[2 * each], keys[2 * each + 1]};
            mma16(typename S::Format{}, dqRel[own + each], e, own2);
        }
    }
}

/// dscore = alpha (keep dA - delta) as fragments.
template <class S>
__device__ inline void scoreSlopes(float keep, std::uint32_t dropped,
                                   const float (&alpha)[1][S::kOctets][4],
                                   const float (&dA)[1][S::kOctets][4], const RowsState<S>& state,
                                   const float* slopes, std::uint32_t (&to)[1][1][4]) {
    const int g = laneOf() / 4, t = laneOf() % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int octet = i / 2, half = i % 2;
        const float* const other = slopes + (g + 8 * half) * RowsShared<S>::kSlopeRow +
                                   warpOf() * S::kKeys + 8 * octet + 2 * t;
        float slope[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            const float sum = dA[0][octet][2 * half + e] + other[e];
            const bool isDropped = dropped >> (8 * half + 2 * octet + e) & 1u;
            slope[e] = alpha[0][octet][2 * half + e] *
                       ((isDropped ? 0.0f : keep * sum) - state.delta[half]);
        }
        to[0][0][i] = packed(typename S::Format{}, slope[0], slope[1]);
    }
}

/// The part of a group of heads in the gradients of relation l of a token, in the workspace:
/// float32 [groups][batch][tokens][kRelations][kRelWidth].
template <class S>
__device__ inline float* partOf(const RelArgs& x, const TensorTile& tile, int tokens, int token,
                                int l) {
    const auto row = (std::int64_t{tile.group} * x.batch + tile.b) * tokens + token;
    return static_cast<float*>(x.workspace) + (row * S::kRelations + l) * S::kRelWidth;
}
/// Two neighbouring gradients of a relation: to the tensor, or with several groups of heads to the
/// workspace.
template <class S>
__device__ inline void writeRelationPair(const RelArgs& x, const TensorTile& tile, const View& to,
                                         int tokens, int token, int l, float low, float high) {
    const int column = 2 * (laneOf() % 4);
    if constexpr (S::kGrouped) {
        float* const part = partOf<S>(x, tile, tokens, token, l) + column;
        part[0] = low;
        part[1] = high;
    } else {
        storePair(rowOf<std::uint16_t>(to, tile.b, token, l) + column,
                  packed(typename S::Format{}, low, high));
    }
}

template <class S>
__device__ inline void writeRows(const RelArgs& x, const TensorTile& tile,
                                 const RowsState<S>& state) {
    const int g = laneOf() / 4, t = laneOf() % 4;
    const auto scale = static_cast<float>(x.scale);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int query = tile.query0 + g + 8 * half;
        if (query >= x.queries) return;
        std::uint16_t* const to =
            rowOf<std::uint16_t>(x.dq, tile.b, query, headOf<S>(tile)) + 2 * t;
#pragma unroll
        for (int column = 0; column < S::kWidth / 8; ++column)
            storePair(to + 8 * column,
                      packed(typename S::Format{}, state.dq[0][column][2 * half] * scale,
                             state.dq[0][column][2 * half + 1] * scale));
#pragma unroll
        for (int own = 0; own < S::kOwnRelations; ++own)
            writeRelationPair<S>(x, tile, x.dqRel, x.queries, query,
                                 warpOf() * S::kOwnRelations + own, state.dqRel[own][2 * half],
                                 state.dqRel[own][2 * half + 1]);
    }
}

/// One block: dq and dqRel of 16 queries of a group of heads. grid (tiles of queries, batch,
/// groups).
template <class S, bool Identity>
__global__ void __launch_bounds__(S::kThreads, 1) relTensorRows(RelArgs x) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    static_assert(S::kRowTiles == 1 && S::kKeys == 16);
    DYNAMIC_SHARED(std::uint16_t, memory);
    const RowsShared<S> shared(memory);
    TensorTile tile;
    tile.b = blockIdx.y;
    tile.group = blockIdx.z;
    tile.query0 = (x.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * S::kQueries;
    copyKeys<S>(x, tile, 0, shared.stages);
    RowsState<S> state;
    startRows(x, tile, state, shared);
    constexpr bool held = Identity && !S::kGrouped;
    std::uint32_t qRel[1][held ? S::kOwnRelations : 1][2];
    if constexpr (held) {
#pragma unroll
        for (int l = 0; l < S::kOwnRelations; ++l)
            loadQueries(qRel[0][l], x, x.qRel, tile, 0, warpOf() * S::kOwnRelations + l, 0);
    }
    const float keep = 65536.0f / (65536.0f - static_cast<float>(x.dropThreshold));
    const int queries = min(x.queries, tile.query0 + S::kQueries);
    const int end = x.causal ? min(x.keys, queries + x.first) : x.keys;
    std::uint32_t droppedCellsOf32 = 0;
    for (tile.key0 = 0; tile.key0 < end; tile.key0 += S::kKeys) {
        const int next = tile.key0 + S::kKeys;
        const int turn = S::kStages == 2 ? tile.key0 / S::kKeys % 2 : 0;
        const std::uint16_t* const stage = shared.stages + turn * S::kStageCells;
        waitForCopies<0>();
        __syncthreads();  // the keys are there; all warps are done with the tile before
        if (S::kStages == 2 && next < end)
            copyKeys<S>(x, tile, next, shared.stages + (1 - turn) * S::kStageCells);
        if (x.dropThreshold != 0 && tile.key0 % 32 == 0)
            droppedCellsOf32 = droppedCells<S>(x, tile);
        const std::uint32_t dropped = droppedCellsOf32 >> (tile.key0 % 32 / 4);
        const int keyHead = warpOf() / (S::kHeads / S::kKeyHeads);
        const std::uint16_t* const k = stage + keyHead * S::kKeys * S::kWidth;
        float alpha[1][S::kOctets][4], dA[1][S::kOctets][4];
        multiplyKeys<S>(alpha, state.q, k);
        remakeWeights<S>(x, tile, dropped, alpha, state, shared.weights);
        multiplyKeys<S>(dA, state.dOut, k + S::kKeyCells);
        const std::uint16_t* const kRel = stage + 2 * S::kKeyCells;
        makeRelations<S, Identity>(x, tile, qRel, kRel, shared.relations);
        __syncthreads();  // weights and relations are there
        slopesOfRelations<S>(static_cast<float>(x.relScale) * keep, shared);
        __syncthreads();  // and the slopes
        addToQueryRelations<S, Identity>(x, tile, state.dqRel, kRel, shared.relations);
        std::uint32_t slopes[1][1][4];
        scoreSlopes<S>(keep, dropped, alpha, dA, state, shared.slopes, slopes);
        mixSymbols<S>(state.dq, slopes, k);
        if (S::kStages == 1 && next < end) {
            __syncthreads();  // nobody reads the keys any more
            copyKeys<S>(x, tile, next, shared.stages);
        }
    }
    writeRows(x, tile, state);
#endif
}

constexpr int kSumThreads = 256;

/// Adds up the groups' parts of the gradients `to` [batch, tokens, relations, relDim]: a thread for
/// each pair of them.
template <class Format>
__global__ void __launch_bounds__(kSumThreads)
    relTensorSum(RelArgs x, View to, int tokens, int groups) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const auto size = std::int64_t{x.batch} * tokens * x.relations * x.relDim;
    const auto at = 2 * (std::int64_t{blockIdx.x} * kSumThreads + threadIdx.x);
    if (at >= size) return;
    float low = 0.0f, high = 0.0f;
    for (int group = 0; group < groups; ++group) {
        const float* const part = static_cast<const float*>(x.workspace) + group * size + at;
        low += part[0];
        high += part[1];
    }
    const int column = at % x.relDim, l = at / x.relDim % x.relations;
    const auto row = at / x.relDim / x.relations;
    storePair(rowOf<std::uint16_t>(to, static_cast<int>(row / tokens),
                                   static_cast<int>(row % tokens), l) +
                  column,
              packed(Format{}, low, high));
#endif
}

constexpr int kDeltaRows = 4;  // rows of a block

/// delta: a warp for each row (batch, head, query).
template <class Format>
__global__ void __launch_bounds__(32 * kDeltaRows) relTensorDelta(RelArgs x) {
    const auto row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warpSize;
    if (row >= std::int64_t{x.batch} * x.heads * x.queries) return;  // the whole warp
    const int query = row % x.queries, head = row / x.queries % x.heads;
    const int b = row / x.queries / x.heads;
    float sum = 0;
    const auto add = [&](const View& left, const View& right, int width) {
        const auto* const u = rowOf<const std::uint16_t>(left, b, query, head);
        const auto* const v = rowOf<const std::uint16_t>(right, b, query, head);
        for (int c = 2 * laneOf(); c < width; c += 2 * warpSize) {
            const auto p = unpacked(Format{}, loadPair(u + c));
            const auto q = unpacked(Format{}, loadPair(v + c));
            sum += p.low * q.low + p.high * q.high;
        }
    };
    add(x.dOut, x.out, x.valueDim);
    add(x.dRelated, x.related, x.relations);
    sum = laneSum<32>(sum);
    if (laneOf() == 0) static_cast<float*>(x.delta)[row] = sum;
}

}  // namespace relascope::core::kernels
