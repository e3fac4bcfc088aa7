// SPDX-License-Identifier: GPL-3.0-or-later
// The work of a block of the FFMA kernels for a tile of queries and keys. All threads of the block
// call these functions together. Loops give a thread the same cells each time, so that it may read
// what it wrote without a barrier; which barriers a function needs around it is said there.
#pragma once

#include "model/kernels/rel_device.cuh"

namespace relascope::core::kernels {

constexpr int kThreads = 128;
constexpr int kQueries = 8, kKeys = 16;  // sizes of a tile
constexpr int kRelations = 16;           // in shared memory at once
constexpr int kRelationCells = kQueries * kRelations * kKeys;

/// Numbers of one tile [kQueries, heads, kKeys].
__host__ __device__ inline int weightCells(const RelArgs& x) {
    return kQueries * x.heads * kKeys;
}

struct Tile {
    int b = 0;
    int query0 = 0, queries = 0;
    int key0 = 0, keys = 0;
};

/// A cell of [queries, heads, kKeys].
struct WeightCell {
    int row, head, query, key;  // row counts [queries, heads]
};
__device__ inline WeightCell weightCell(const RelArgs& x, const Tile& tile, int index) {
    const int row = index / kKeys;
    return {row, row % x.heads, tile.query0 + row / x.heads, tile.key0 + index % kKeys};
}

template <class T>
__device__ inline T scoreOf(const RelArgs& x, const Tile& tile, const WeightCell& cell) {
    return T(x.scale) * dot(rowOf<T>(x.q, tile.b, cell.query, cell.head),
                            rowOf<T>(x.k, tile.b, cell.key, keyHeadOf(x, cell.head)), x.keyDim);
}

/// relScale <q_rel_i^l, k_rel_j^l>
template <class T>
__device__ inline T innerProduct(const RelArgs& x, int b, int query, int key, int relation) {
    return T(x.relScale) *
           dot(rowOf<T>(x.qRel, b, query, relation), rowOf<T>(x.kRel, b, key, relation), x.relDim);
}

/// A chunk of relations: [queries, kRelations, kKeys] of a tile.
struct Chunk {
    int first, count;
};
__device__ inline Chunk chunkAt(const RelArgs& x, int first) {
    return {first, x.relations - first < kRelations ? x.relations - first : kRelations};
}

/// Sets cells [query, relation, key] of a chunk to of(query, relation, key, index in the tile's
/// queries, in its keys); beyond the chunk and the keys to 0.
template <class T, class Of>
__device__ inline void fillChunk(const Tile& tile, const Chunk& chunk, T* cells, Of of) {
    for (int index = threadIdx.x; index < tile.queries * kRelations * kKeys; index += kThreads) {
        const int j = index % kKeys, l = index / kKeys % kRelations;
        const int i = index / kKeys / kRelations;
        cells[index] = j < tile.keys && l < chunk.count
                           ? of(tile.query0 + i, chunk.first + l, tile.key0 + j, i, j)
                           : T(0);
    }
}

/// r of a chunk. Barriers before (the chunk's memory) and after are the caller's.
template <class T>
__device__ inline void relationChunk(const RelArgs& x, const Tile& tile, const Chunk& chunk,
                                     T* cells) {
    fillChunk(tile, chunk, cells, [&](int query, int relation, int key, int, int) {
        return activated(x.activation, innerProduct<T>(x, tile.b, query, key, relation));
    });
}

/// e_ij^l = relScale act'(.) sum_a A_ij^a dR_i^a[l] of a chunk, the gradient of the product of
/// q_rel and k_rel. Needs the weights; barriers as for relationChunk.
template <class T>
__device__ inline void slopeChunk(const RelArgs& x, const Tile& tile, const Chunk& chunk,
                                  const T* weights, T* cells) {
    fillChunk(tile, chunk, cells, [&](int query, int relation, int key, int i, int j) {
        T sum = 0;
        for (int a = 0; a < x.heads; ++a)
            sum += weights[(i * x.heads + a) * kKeys + j] *
                   rowOf<T>(x.dRelated, tile.b, query, a)[relation];
        if (x.activation != Activation::Identity)
            sum *= slopeOf(x.activation, innerProduct<T>(x, tile.b, query, key, relation));
        return T(x.relScale) * sum;
    });
}

/// Recomputes weights A and dscore, both [queries, heads, kKeys], 0 for keys beyond the tile and
/// hidden ones. `cells` [queries, kRelations, kKeys] is scratch. Begins without and ends with a
/// barrier: one is needed before when others still read the memory.
template <class T>
__device__ inline void backwardWeights(const RelArgs& x, const Tile& tile, PhiloxKey key,
                                       T* weights, T* slopes, T* cells) {
    const int count = tile.queries * x.heads * kKeys;
    const T* lse = static_cast<const T*>(x.lse);
    const T* delta = static_cast<const T*>(x.delta);
    for (int index = threadIdx.x; index < count; index += kThreads) {
        const auto cell = weightCell(x, tile, index);
        if (!isVisible(x, cell.query, cell.key)) {
            weights[index] = slopes[index] = T(0);
            continue;
        }
        const auto row = rowIndex(x, tile.b, cell.head, cell.query);
        weights[index] = exponential(scoreOf<T>(x, tile, cell) - lse[row]);
        slopes[index] =
            dot(rowOf<T>(x.dOut, tile.b, cell.query, cell.head),
                rowOf<T>(x.s, tile.b, symbolRow(x, cell.query, cell.key), keyHeadOf(x, cell.head)),
                x.valueDim);
    }
    for (int first = 0; first < x.relations; first += kRelations) {
        const auto chunk = chunkAt(x, first);
        __syncthreads();
        relationChunk(x, tile, chunk, cells);
        __syncthreads();
        for (int index = threadIdx.x; index < count; index += kThreads) {
            const auto cell = weightCell(x, tile, index);
            const T* gradient = rowOf<T>(x.dRelated, tile.b, cell.query, cell.head) + first;
            const T* r = cells + (cell.row / x.heads) * kRelations * kKeys + index % kKeys;
            T sum = 0;
            for (int l = 0; l < chunk.count; ++l) sum += gradient[l] * r[l * kKeys];
            slopes[index] += sum;
        }
    }
    for (int index = threadIdx.x; index < count; index += kThreads) {
        const auto cell = weightCell(x, tile, index);
        if (!isVisible(x, cell.query, cell.key)) {
            slopes[index] = T(0);
            continue;
        }
        const auto row = rowIndex(x, tile.b, cell.head, cell.query);
        const T keep = keepOf<T>(x, key, row, cell.key);
        slopes[index] = weights[index] * (keep * slopes[index] - delta[row]);
        weights[index] *= keep;
    }
    __syncthreads();
}

}  // namespace relascope::core::kernels
