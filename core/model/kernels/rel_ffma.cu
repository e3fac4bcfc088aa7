// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention by plain multiply-adds: the forward pass, and delta for the backward one.
#include "model/kernels/rel_ffma.h"

#include "model/kernels/rel_ffma_launch.cuh"
#include "model/kernels/rel_ffma_tiles.cuh"

namespace relascope::core::kernels {
namespace {

constexpr int kLanesPerRow = kKeys;  // lanes of a row of the softmax

/// The state of a block's queries in shared memory: online softmax and the sums so far, which all
/// count relative to exp(highest).
template <class T>
struct RowState {
    __device__ RowState(const RelArgs& x, T* shared) {
        const int rows = kQueries * x.heads;
        weights = shared;
        highest = weights + weightCells(x);
        sum = highest + rows;
        factor = sum + rows;
        mixed = factor + rows;
        related = mixed + rows * x.valueDim;
        cells = related + rows * x.relations;
    }
    T* weights;                 // [queries, heads, kKeys]
    T *highest, *sum, *factor;  // [queries, heads]
    T* mixed;                   // [queries, heads, valueDim]
    T* related;                 // [queries, heads, relations]
    T* cells;                   // [queries, kRelations, kKeys]
};

/// Scores become weights, and `factor` what the earlier sums are to be multiplied by.
template <class T>
__device__ void softmaxStep(const RelArgs& x, const Tile& tile, PhiloxKey key,
                            const RowState<T>& state) {
    const int rows = tile.queries * x.heads;
    const int lane = threadIdx.x % kLanesPerRow, group = threadIdx.x / kLanesPerRow;
    // All lanes take part in every step, since they exchange values.
    for (int first = 0; first < rows; first += kThreads / kLanesPerRow) {
        const int row = first + group;
        const bool valid = row < rows;
        const auto cell = weightCell(x, tile, row * kKeys + lane);
        const bool visible = valid && isVisible(x, cell.query, cell.key);
        const T score = visible ? scoreOf<T>(x, tile, cell) : T(-INFINITY);
        const T before = valid ? state.highest[row] : T(0);
        const T found = laneMax<kLanesPerRow>(score);
        const T highest = found > before ? found : before;
        const T weight = visible ? exponential(score - highest) : T(0);
        const T sum = laneSum<kLanesPerRow>(weight);
        __syncwarp();  // the others have read `highest`; shuffles alone order no memory
        if (!valid) continue;
        const auto number = rowIndex(x, tile.b, cell.head, cell.query);
        state.weights[row * kKeys + lane] =
            visible ? weight * keepOf<T>(x, key, number, cell.key) : T(0);
        if (lane != 0) continue;
        const T factor = exponential(before - highest);
        state.factor[row] = factor;
        state.sum[row] = state.sum[row] * factor + sum;
        state.highest[row] = highest;
    }
}

template <class T>
__device__ void mixSymbols(const RelArgs& x, const Tile& tile, const RowState<T>& state) {
    for (int index = threadIdx.x; index < tile.queries * x.heads * x.valueDim; index += kThreads) {
        const int c = index % x.valueDim, row = index / x.valueDim;
        const int query = tile.query0 + row / x.heads, keyHead = keyHeadOf(x, row % x.heads);
        T sum = state.mixed[index] * state.factor[row];
        for (int j = 0; j < tile.keys; ++j)
            sum += state.weights[row * kKeys + j] *
                   rowOf<T>(x.s, tile.b, symbolRow(x, query, tile.key0 + j), keyHead)[c];
        state.mixed[index] = sum;
    }
}

template <class T>
__device__ void mixRelations(const RelArgs& x, const Tile& tile, const RowState<T>& state) {
    for (int first = 0; first < x.relations; first += kRelations) {
        const auto chunk = chunkAt(x, first);
        relationChunk(x, tile, chunk, state.cells);
        __syncthreads();
        for (int index = threadIdx.x; index < tile.queries * x.heads * chunk.count;
             index += kThreads) {
            const int l = index % chunk.count, row = index / chunk.count;
            const T* r = state.cells + (row / x.heads * kRelations + l) * kKeys;
            T& related = state.related[row * x.relations + first + l];
            T sum = related * state.factor[row];
            for (int j = 0; j < tile.keys; ++j) sum += state.weights[row * kKeys + j] * r[j];
            related = sum;
        }
        __syncthreads();
    }
}

/// One block: kQueries queries of all heads of a batch element. grid (tiles of queries, batch).
template <class T>
__global__ void __launch_bounds__(kThreads) relForward(RelArgs x) {
    DYNAMIC_SHARED(T, shared);
    const RowState<T> state(x, shared);
    const auto key = keyOf(x.philox);
    // Long causal rows first: the last blocks to run are then short ones.
    const int number = x.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    Tile tile;
    tile.b = blockIdx.y;
    tile.query0 = number * kQueries;
    tile.queries = min(kQueries, x.queries - tile.query0);
    const int rows = tile.queries * x.heads;
    for (int i = threadIdx.x; i < rows; i += kThreads) {
        state.highest[i] = T(-INFINITY);
        state.sum[i] = T(0);
    }
    for (int i = threadIdx.x; i < rows * x.valueDim; i += kThreads) state.mixed[i] = T(0);
    for (int i = threadIdx.x; i < rows * x.relations; i += kThreads) state.related[i] = T(0);
    const int end = x.causal ? min(x.keys, tile.query0 + tile.queries + x.first) : x.keys;
    for (tile.key0 = 0; tile.key0 < end; tile.key0 += kKeys) {
        tile.keys = min(kKeys, end - tile.key0);
        __syncthreads();
        softmaxStep(x, tile, key, state);
        __syncthreads();
        mixSymbols(x, tile, state);
        mixRelations(x, tile, state);
    }
    for (int i = threadIdx.x; i < rows * x.valueDim; i += kThreads) {
        const int row = i / x.valueDim;
        rowOf<T>(x.out, tile.b, tile.query0 + row / x.heads, row % x.heads)[i % x.valueDim] =
            state.mixed[i] / state.sum[row];
    }
    for (int i = threadIdx.x; i < rows * x.relations; i += kThreads) {
        const int row = i / x.relations;
        rowOf<T>(x.related, tile.b, tile.query0 + row / x.heads, row % x.heads)[i % x.relations] =
            state.related[i] / state.sum[row];
    }
    for (int row = threadIdx.x; row < rows; row += kThreads)
        static_cast<T*>(x.lse)[rowIndex(x, tile.b, row % x.heads, tile.query0 + row / x.heads)] =
            state.highest[row] + logarithm(state.sum[row]);
}

/// A warp for each row (batch, head, query).
template <class T>
__global__ void __launch_bounds__(kThreads) relDelta(RelArgs x) {
    const auto row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / warpSize;
    if (row >= std::int64_t{x.batch} * x.heads * x.queries) return;  // the whole warp
    const int lane = threadIdx.x % warpSize;
    const int query = row % x.queries, head = row / x.queries % x.heads;
    const int b = row / x.queries / x.heads;
    T sum = 0;
    for (int c = lane; c < x.valueDim; c += warpSize)
        sum += rowOf<T>(x.dOut, b, query, head)[c] * rowOf<T>(x.out, b, query, head)[c];
    for (int l = lane; l < x.relations; l += warpSize)
        sum += rowOf<T>(x.dRelated, b, query, head)[l] * rowOf<T>(x.related, b, query, head)[l];
    sum = laneSum<32>(sum);
    if (lane == 0) static_cast<T*>(x.delta)[row] = sum;
}

std::size_t forwardNumbers(const RelArgs& x) {
    const std::size_t rows = std::size_t{kQueries} * x.heads;
    return rows * (kKeys + 3 + x.valueDim + x.relations) + (x.relations ? kRelationCells : 0);
}

}  // namespace

RelSharedBytes relSharedBytes(const RelArgs& x) {
    const std::size_t size = x.type == DataType::Float64 ? 8 : 4;
    const auto [rows, columns, library] = relBackwardNumbers(x);
    return {size * forwardNumbers(x), size * rows, size * columns, size * library};
}

int launchRelForward(const RelArgs* args, void* stream) {
    const dim3 grid(tiles(args->queries, kQueries), args->batch);
    return launchRel(*args, KERNELS(relForward), grid, relSharedBytes(*args).forward, stream);
}

int launchRelDelta(const RelArgs* args, void* stream) {
    const auto rows = std::int64_t{args->batch} * args->heads * args->queries;
    const auto blocks = (rows * 32 + kThreads - 1) / kThreads;
    return launchRel(*args, KERNELS(relDelta), dim3(blocks), 0, stream);
}

}  // namespace relascope::core::kernels
