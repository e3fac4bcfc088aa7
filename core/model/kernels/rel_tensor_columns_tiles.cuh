// SPDX-License-Identifier: GPL-3.0-or-later
// The state of a block of the tensor-core backward pass of keys, in shared memory and in registers,
// and the copies of tiles of queries.
#pragma once

#include "model/kernels/rel_tensor_tiles.cuh"

namespace relascope::core::kernels {

/// Shared memory of a block. Of a tile of queries each warp copies what it alone reads: q and dOut
/// of its head, [Queries][kWidth], and qRel of its relations, [Queries][kOwnRelations, kRelWidth].
/// When dOut has served, dRelated of the warp's own queries comes in its place. Weights, relations
/// and slopes go from warp to warp as in the kernel of rows.
template <class S>
struct ColumnsShared {
    static constexpr int kHeadPart = S::kQueries * S::kWidth;
    static constexpr int kRelationPart = S::kQueries * S::kOwnRelations * S::kRelWidth;
    static constexpr int kGradients = S::kOwnQueries * S::kHeads * S::kRelations;
    static constexpr int kPassed = kGradients > kHeadPart ? kGradients : kHeadPart;
    static constexpr int kWarpCells = kHeadPart + kPassed + kRelationPart;
    static constexpr int kStageCells = S::kHeads * kWarpCells;
    // Paddings keep stores and loads off one another's banks.
    static constexpr int kSlopeHead = S::kKeys + 4;
    static constexpr int kSlopeRow = S::kHeads * kSlopeHead + 4;
    static constexpr std::size_t kBytes =
        2 * (S::kStages * kStageCells + S::kQueries * (S::kRelationRow + S::kWeightRow)) +
        4 * S::kQueries * kSlopeRow;
    static_assert(S::kOwnQueries * S::kHeads == S::kQueries);
    __device__ explicit ColumnsShared(std::uint16_t* shared)
        : stages(shared),
          relations(stages + S::kStages * kStageCells),
          weights(relations + S::kQueries * S::kRelationRow),
          slopes(reinterpret_cast<float*>(weights + S::kQueries * S::kWeightRow)) {}
    std::uint16_t *stages, *relations, *weights;
    float* slopes;
};

/// A warp's part of a stage.
template <class S>
struct ColumnsStage {
    __device__ ColumnsStage(const ColumnsShared<S>& shared, int turn)
        : q(shared.stages + turn * ColumnsShared<S>::kStageCells +
            warpOf() * ColumnsShared<S>::kWarpCells),
          dOut(q + ColumnsShared<S>::kHeadPart),
          qRel(dOut + ColumnsShared<S>::kPassed) {}
    std::uint16_t *q, *dOut, *qRel;
};

template <class S>
struct ColumnsState {
    // With many relations their keys are read again for each tile of queries.
    static constexpr int kHeld = S::kGrouped ? 1 : S::kOwnRelations;
    std::uint32_t k[1][S::kWidth / 16][4], s[1][S::kWidth / 16][4], kRel[kHeld][2];
    float dk[1][S::kWidth / 8][4], ds[1][S::kWidth / 8][4];
    float dkRel[S::kOwnRelations][4];
};

/// Copies [Rows, 8 Chunks] numbers by the lanes of a warp: chunkAt(query, row, chunk) of query
/// queryOf(row), 0 beyond the queries.
template <int Rows, int Chunks, class QueryOf, class ChunkAt>
__device__ inline void copyPart(const RelArgs& x, std::uint16_t* to, QueryOf queryOf,
                                ChunkAt chunkAt) {
#pragma unroll 1
    for (int i = laneOf(); i < Rows * Chunks; i += 32) {
        const int row = i / Chunks, chunk = i % Chunks, query = queryOf(row);
        const bool valid = query < x.queries;
        copyAsync(to + swizzled<Chunks>(row, chunk), chunkAt(valid ? query : 0, row, chunk),
                  valid ? 16 : 0);
    }
}
/// q or dOut of the warp's head.
template <class S>
__device__ inline void copyHead(const RelArgs& x, const View& view, const TensorTile& tile,
                                int query0, std::uint16_t* to) {
    copyPart<S::kQueries, S::kWidth / 8>(
        x, to, [&](int row) { return query0 + row; },
        [&](int query, int, int chunk) {
            return rowOf<const std::uint16_t>(view, tile.b, query, headOf<S>(tile)) + 8 * chunk;
        });
}
template <class S>
__device__ inline void copyQueryRelations(const RelArgs& x, int b, int query0, std::uint16_t* to) {
    copyPart<S::kQueries, S::kOwnRelations>(
        x, to, [&](int row) { return query0 + row; },
        [&](int query, int, int chunk) {
            return rowOf<const std::uint16_t>(x.qRel, b, query,
                                              warpOf() * S::kOwnRelations + chunk);
        });
}
/// dRelated [kOwnQueries][Heads, Relations] of the warp's queries.
template <class S>
__device__ inline void copyGradients(const RelArgs& x, const TensorTile& tile, std::uint16_t* to) {
    copyPart<S::kOwnQueries * S::kHeads, S::kRelations / 8>(
        x, to, [&](int row) { return tile.query0 + warpOf() * S::kOwnQueries + row / S::kHeads; },
        [&](int query, int row, int chunk) {
            return rowOf<const std::uint16_t>(x.dRelated, tile.b, query,
                                              tile.group * S::kHeads + row % S::kHeads) +
                   8 * chunk;
        });
}
template <class S>
__device__ inline void copyQueries(const RelArgs& x, const TensorTile& tile, int query0,
                                   const ColumnsStage<S>& stage) {
    copyHead<S>(x, x.q, tile, query0, stage.q);
    copyHead<S>(x, x.dOut, tile, query0, stage.dOut);
    copyQueryRelations<S>(x, tile.b, query0, stage.qRel);
}

/// The keys of one of the warp's relations as fragments.
template <class S>
__device__ inline void loadKeyRelation(const RelArgs& x, const TensorTile& tile,
                                       const ColumnsState<S>& state, int own,
                                       std::uint32_t (&to)[2]) {
    if constexpr (S::kGrouped) {
        loadRows(to, x.kRel, tile.b, tile.key0, x.keys, warpOf() * S::kOwnRelations + own, 0);
    } else {
        to[0] = state.kRel[own][0];
        to[1] = state.kRel[own][1];
    }
}

template <class S>
__device__ inline void startColumns(const RelArgs& x, const TensorTile& tile,
                                    ColumnsState<S>& state) {
    const int keyHead = headOf<S>(tile) / (S::kHeads / S::kKeyHeads);
#pragma unroll
    for (int step = 0; step < S::kWidth / 16; ++step) {
        loadRows(state.k[0][step], x.k, tile.b, tile.key0, x.keys, keyHead, 16 * step);
        loadRows(state.s[0][step], x.s, tile.b, tile.key0, x.keys, keyHead, 16 * step);
    }
    if constexpr (!S::kGrouped) {
#pragma unroll
        for (int own = 0; own < S::kOwnRelations; ++own)
            loadRows(state.kRel[own], x.kRel, tile.b, tile.key0, x.keys,
                     warpOf() * S::kOwnRelations + own, 0);
    }
#pragma unroll
    for (int i = 0; i < S::kWidth / 2; ++i) {
        state.dk[0][i / 4][i % 4] = 0.0f;
        state.ds[0][i / 4][i % 4] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 4 * S::kOwnRelations; ++i) state.dkRel[i / 4][i % 4] = 0.0f;
}

}  // namespace relascope::core::kernels
