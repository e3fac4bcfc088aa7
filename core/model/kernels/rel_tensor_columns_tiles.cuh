// SPDX-License-Identifier: GPL-3.0-or-later
// What a block of the tensor-core backward pass of keys holds, in shared memory and in registers,
// and how tiles of queries come there.
#pragma once

#include "model/kernels/rel_tensor_tiles.cuh"

namespace relascope::core::kernels {

/// Shared memory of a block. Of a tile of queries each warp copies what it alone reads: q and dOut
/// of its head and qRel of its relations, kPart numbers each, as [Queries][kWidth]. When dOut has
/// served, dRelated of the warp's own queries comes in its place. Weights, relations and slopes go
/// from warp to warp as in the kernel of rows.
template <class S>
struct ColumnsShared {
    static constexpr int kPart = S::kQueries * S::kWidth;
    static constexpr int kWarpCells = 3 * kPart;
    static constexpr int kStageCells = S::kHeads * kWarpCells;
    // Paddings keep stores and loads off one another's banks.
    static constexpr int kSlopeHead = S::kKeys + 4;
    static constexpr int kSlopeRow = S::kHeads * kSlopeHead + 4;
    static constexpr std::size_t kBytes =
        2 * (S::kStages * kStageCells + S::kQueries * (S::kRelationRow + S::kWeightRow)) +
        4 * S::kQueries * kSlopeRow;
    static_assert(S::kOwnRelations * S::kRelWidth == S::kWidth && S::kRelations == S::kWidth);
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
          dOut(q + ColumnsShared<S>::kPart),
          qRel(dOut + ColumnsShared<S>::kPart) {}
    std::uint16_t *q, *dOut, *qRel;
};

template <class S>
struct ColumnsState {
    std::uint32_t k[1][S::kWidth / 16][4], s[1][S::kWidth / 16][4], kRel[S::kOwnRelations][2];
    float dk[1][S::kWidth / 8][4], ds[1][S::kWidth / 8][4];
    float dkRel[S::kOwnRelations][4];
};

/// Copies kPart numbers by the lanes of a warp: chunkAt(query, row, chunk) of query queryOf(row), 0
/// beyond the queries.
template <class S, class QueryOf, class ChunkAt>
__device__ inline void copyPart(const RelArgs& x, std::uint16_t* to, QueryOf queryOf,
                                ChunkAt chunkAt) {
    constexpr int chunks = S::kWidth / 8;
#pragma unroll 1
    for (int i = laneOf(); i < S::kQueries * chunks; i += 32) {
        const int row = i / chunks, chunk = i % chunks, query = queryOf(row);
        const bool valid = query < x.queries;
        copyAsync(to + swizzled<chunks>(row, chunk), chunkAt(valid ? query : 0, row, chunk),
                  valid ? 16 : 0);
    }
}
/// q or dOut of the warp's head.
template <class S>
__device__ inline void copyHead(const RelArgs& x, const View& view, int b, int query0,
                                std::uint16_t* to) {
    copyPart<S>(
        x, to, [&](int row) { return query0 + row; },
        [&](int query, int, int chunk) {
            return rowOf<const std::uint16_t>(view, b, query, warpOf()) + 8 * chunk;
        });
}
template <class S>
__device__ inline void copyQueryRelations(const RelArgs& x, int b, int query0, std::uint16_t* to) {
    copyPart<S>(
        x, to, [&](int row) { return query0 + row; },
        [&](int query, int, int chunk) {
            return rowOf<const std::uint16_t>(x.qRel, b, query,
                                              warpOf() * S::kOwnRelations + chunk);
        });
}
/// dRelated [kOwnQueries][Heads, Relations] of the warp's queries.
template <class S>
__device__ inline void copyGradients(const RelArgs& x, int b, int query0, std::uint16_t* to) {
    copyPart<S>(
        x, to, [&](int row) { return query0 + warpOf() * S::kOwnQueries + row / S::kHeads; },
        [&](int query, int row, int chunk) {
            return rowOf<const std::uint16_t>(x.dRelated, b, query, row % S::kHeads) + 8 * chunk;
        });
}
template <class S>
__device__ inline void copyQueries(const RelArgs& x, int b, int query0,
                                   const ColumnsStage<S>& stage) {
    copyHead<S>(x, x.q, b, query0, stage.q);
    copyHead<S>(x, x.dOut, b, query0, stage.dOut);
    copyQueryRelations<S>(x, b, query0, stage.qRel);
}

template <class S>
__device__ inline void startColumns(const RelArgs& x, const TensorTile& tile,
                                    ColumnsState<S>& state) {
    const int keyHead = warpOf() / (S::kHeads / S::kKeyHeads);
#pragma unroll
    for (int step = 0; step < S::kWidth / 16; ++step) {
        loadRows(state.k[0][step], x.k, tile.b, tile.key0, x.keys, keyHead, 16 * step);
        loadRows(state.s[0][step], x.s, tile.b, tile.key0, x.keys, keyHead, 16 * step);
    }
#pragma unroll
    for (int own = 0; own < S::kOwnRelations; ++own)
        loadRows(state.kRel[own], x.kRel, tile.b, tile.key0, x.keys,
                 warpOf() * S::kOwnRelations + own, 0);
#pragma unroll
    for (int i = 0; i < S::kWidth / 2; ++i) {
        state.dk[0][i / 4][i % 4] = 0.0f;
        state.ds[0][i / 4][i % 4] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 4 * S::kOwnRelations; ++i) state.dkRel[i / 4][i % 4] = 0.0f;
}

}  // namespace relascope::core::kernels
