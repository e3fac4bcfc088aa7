// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention by plain multiply-adds: the backward pass. Each gradient is the sum of one
// block in a fixed order, without atomics, so that training repeats bit for bit.
#include "model/kernels/rel_ffma.h"
#include "model/kernels/rel_ffma_launch.cuh"
#include "model/kernels/rel_ffma_tiles.cuh"

namespace relascope::core::kernels {
namespace {

constexpr int kLibraryQueries = 16;  // at a time

/// Adds sum_j e_ij^l k_rel_j^l of a chunk to dqRel [queries, relations, relDim].
template <class T>
__device__ void addToQueryRelations(const RelArgs& x, const Tile& tile, const Chunk& chunk,
                                    const T* cells, T* dqRel) {
    const int width = chunk.count * x.relDim;
    for (int index = threadIdx.x; index < tile.queries * width; index += kThreads) {
        const int c = index % x.relDim, l = index % width / x.relDim, i = index / width;
        T sum = 0;
        for (int j = 0; j < tile.keys; ++j)
            sum += cells[(i * kRelations + l) * kKeys + j] *
                   rowOf<T>(x.kRel, tile.b, tile.key0 + j, chunk.first + l)[c];
        dqRel[(i * x.relations + chunk.first + l) * x.relDim + c] += sum;
    }
}

/// Adds sum_i e_ij^l q_rel_i^l of a chunk to dkRel [keys, relations, relDim].
template <class T>
__device__ void addToKeyRelations(const RelArgs& x, const Tile& tile, const Chunk& chunk,
                                  const T* cells, T* dkRel) {
    const int width = chunk.count * x.relDim;
    for (int index = threadIdx.x; index < tile.keys * width; index += kThreads) {
        const int c = index % x.relDim, l = index % width / x.relDim, j = index / width;
        T sum = 0;
        for (int i = 0; i < tile.queries; ++i)
            sum += cells[(i * kRelations + l) * kKeys + j] *
                   rowOf<T>(x.qRel, tile.b, tile.query0 + i, chunk.first + l)[c];
        dkRel[(j * x.relations + chunk.first + l) * x.relDim + c] += sum;
    }
}

/// One block: dq and dqRel of kQueries queries. grid (tiles of queries, batch).
template <class T>
__global__ void __launch_bounds__(kThreads) relBackwardRows(RelArgs x) {
    DYNAMIC_SHARED(T, shared);
    const auto key = keyOf(x.philox);
    T* const weights = shared;                                   // [queries, heads, kKeys]
    T* const slopes = weights + weightCells(x);                  // the same
    T* const dq = slopes + weightCells(x);                       // [queries, heads, keyDim]
    T* const dqRel = dq + kQueries * x.heads * x.keyDim;         // [queries, relations, relDim]
    T* const cells = dqRel + kQueries * x.relations * x.relDim;  // [queries, kRelations, kKeys]
    const int number = x.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    Tile tile;
    tile.b = blockIdx.y;
    tile.query0 = number * kQueries;
    tile.queries = min(kQueries, x.queries - tile.query0);
    const int width = x.heads * x.keyDim, relWidth = x.relations * x.relDim;
    for (int i = threadIdx.x; i < tile.queries * width; i += kThreads) dq[i] = T(0);
    for (int i = threadIdx.x; i < tile.queries * relWidth; i += kThreads) dqRel[i] = T(0);
    const int end = x.causal ? min(x.keys, tile.query0 + tile.queries + x.first) : x.keys;
    for (tile.key0 = 0; tile.key0 < end; tile.key0 += kKeys) {
        tile.keys = min(kKeys, end - tile.key0);
        __syncthreads();
        backwardWeights(x, tile, key, weights, slopes, cells);
        for (int index = threadIdx.x; index < tile.queries * width; index += kThreads) {
            const int c = index % x.keyDim, row = index / x.keyDim;
            T sum = 0;
            for (int j = 0; j < tile.keys; ++j)
                sum += slopes[row * kKeys + j] *
                       rowOf<T>(x.k, tile.b, tile.key0 + j, keyHeadOf(x, row % x.heads))[c];
            dq[index] += T(x.scale) * sum;
        }
        for (int first = 0; first < x.relations; first += kRelations) {
            const auto chunk = chunkAt(x, first);
            if (first > 0) __syncthreads();
            slopeChunk(x, tile, chunk, weights, cells);
            __syncthreads();
            addToQueryRelations(x, tile, chunk, cells, dqRel);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < tile.queries * width; i += kThreads)
        rowOf<T>(x.dq, tile.b, tile.query0 + i / width, i % width / x.keyDim)[i % x.keyDim] = dq[i];
    for (int i = threadIdx.x; i < tile.queries * relWidth; i += kThreads)
        rowOf<T>(x.dqRel, tile.b, tile.query0 + i / relWidth,
                 i % relWidth / x.relDim)[i % x.relDim] = dqRel[i];
}

/// Adds sum_i sum_a weights_ij^a rows_i^a, over the heads a of each key head, to sums [keys,
/// keyHeads, width].
template <class T>
__device__ void addToKeys(const RelArgs& x, const Tile& tile, const T* weights, const View& rows,
                          int width, T factor, T* sums) {
    const int group = x.heads / x.keyHeads;
    for (int index = threadIdx.x; index < tile.keys * x.keyHeads * width; index += kThreads) {
        const int c = index % width, keyHead = index / width % x.keyHeads;
        const int j = index / width / x.keyHeads;
        T sum = 0;
        for (int i = 0; i < tile.queries; ++i)
            for (int a = keyHead * group; a < (keyHead + 1) * group; ++a)
                sum += weights[(i * x.heads + a) * kKeys + j] *
                       rowOf<T>(rows, tile.b, tile.query0 + i, a)[c];
        sums[index] += factor * sum;
    }
}

/// One block: dk, dkRel and ds of kKeys keys. grid (tiles of keys, batch).
template <class T>
__global__ void __launch_bounds__(kThreads) relBackwardColumns(RelArgs x) {
    DYNAMIC_SHARED(T, shared);
    const auto key = keyOf(x.philox);
    const int width = x.keyHeads * x.keyDim, relWidth = x.relations * x.relDim;
    const int symbolWidth = x.maxOffset < 0 ? x.keyHeads * x.valueDim : 0;
    T* const weights = shared;                   // [queries, heads, kKeys]
    T* const slopes = weights + weightCells(x);  // the same
    T* const dk = slopes + weightCells(x);       // [keys, keyHeads, keyDim]
    T* const ds = dk + kKeys * width;            // [keys, keyHeads, valueDim]
    T* const dkRel = ds + kKeys * symbolWidth;   // [keys, relations, relDim]
    T* const cells = dkRel + kKeys * relWidth;   // [queries, kRelations, kKeys]
    Tile tile;
    tile.b = blockIdx.y;
    tile.key0 = blockIdx.x * kKeys;
    tile.keys = min(kKeys, x.keys - tile.key0);
    for (int i = threadIdx.x; i < tile.keys * width; i += kThreads) dk[i] = T(0);
    for (int i = threadIdx.x; i < tile.keys * symbolWidth; i += kThreads) ds[i] = T(0);
    for (int i = threadIdx.x; i < tile.keys * relWidth; i += kThreads) dkRel[i] = T(0);
    // The first query that sees a key of the tile.
    const int begin = x.causal ? max(0, tile.key0 - x.first) : 0;
    for (tile.query0 = begin; tile.query0 < x.queries; tile.query0 += kQueries) {
        tile.queries = min(kQueries, x.queries - tile.query0);
        __syncthreads();
        backwardWeights(x, tile, key, weights, slopes, cells);
        addToKeys(x, tile, slopes, x.q, x.keyDim, T(x.scale), dk);
        if (symbolWidth > 0) addToKeys(x, tile, weights, x.dOut, x.valueDim, T(1), ds);
        for (int first = 0; first < x.relations; first += kRelations) {
            const auto chunk = chunkAt(x, first);
            if (first > 0) __syncthreads();
            slopeChunk(x, tile, chunk, weights, cells);
            __syncthreads();
            addToKeyRelations(x, tile, chunk, cells, dkRel);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < tile.keys * width; i += kThreads)
        rowOf<T>(x.dk, tile.b, tile.key0 + i / width, i % width / x.keyDim)[i % x.keyDim] = dk[i];
    for (int i = threadIdx.x; i < tile.keys * symbolWidth; i += kThreads)
        rowOf<T>(x.ds, tile.b, tile.key0 + i / symbolWidth,
                 i % symbolWidth / x.valueDim)[i % x.valueDim] = ds[i];
    for (int i = threadIdx.x; i < tile.keys * relWidth; i += kThreads)
        rowOf<T>(x.dkRel, tile.b, tile.key0 + i / relWidth, i % relWidth / x.relDim)[i % x.relDim] =
            dkRel[i];
}

/// The keys that query i mixes with a library row; the first and the last row serve all offsets
/// beyond them as well.
struct KeyRange {
    int begin, end;
};
__device__ inline KeyRange keysOfRow(const RelArgs& x, int row, int query) {
    const int key = query + x.first + row - x.maxOffset;
    int begin = row == 0 ? 0 : max(0, key);
    int end = row == 2 * x.maxOffset ? x.keys : min(x.keys, key + 1);
    if (x.causal) end = min(end, query + x.first + 1);
    return {begin, end};
}

/// One block: the gradient of one library row, sum_i sum_j A_ij dO_i over the keys j that it
/// serves. grid (library rows, batch).
template <class T>
__global__ void __launch_bounds__(kThreads) relBackwardLibrary(RelArgs x) {
    DYNAMIC_SHARED(T, shared);
    const auto key = keyOf(x.philox);
    const int row = blockIdx.x, width = x.keyHeads * x.valueDim, group = x.heads / x.keyHeads;
    T* const weights = shared;                            // [kLibraryQueries, heads]
    T* const sums = weights + kLibraryQueries * x.heads;  // [keyHeads, valueDim]
    Tile tile;
    tile.b = blockIdx.y;
    for (int i = threadIdx.x; i < width; i += kThreads) sums[i] = T(0);
    // An inner row has a key for few of the queries.
    const int offset = x.first + row - x.maxOffset;
    const int begin = max(0, -offset);
    const int end = row == 0 ? x.queries : min(x.queries, x.keys - offset);
    for (int query0 = begin; query0 < end; query0 += kLibraryQueries) {
        const int queries = min(kLibraryQueries, end - query0);
        __syncthreads();
        for (int index = threadIdx.x; index < queries * x.heads; index += kThreads) {
            const int a = index % x.heads, query = query0 + index / x.heads;
            const auto number = rowIndex(x, tile.b, a, query);
            const auto keys = keysOfRow(x, row, query);
            T sum = 0;
            for (int j = keys.begin; j < keys.end; ++j) {
                const T score = scoreOf<T>(x, tile, {0, a, query, j});
                sum += exponential(score - static_cast<const T*>(x.lse)[number]) *
                       keepOf<T>(x, key, number, j);
            }
            weights[index] = sum;
        }
        __syncthreads();
        for (int index = threadIdx.x; index < width; index += kThreads) {
            const int c = index % x.valueDim, keyHead = index / x.valueDim;
            T sum = 0;
            for (int i = 0; i < queries; ++i)
                for (int a = keyHead * group; a < (keyHead + 1) * group; ++a)
                    sum += weights[i * x.heads + a] * rowOf<T>(x.dOut, tile.b, query0 + i, a)[c];
            sums[index] += sum;
        }
    }
    for (int i = threadIdx.x; i < width; i += kThreads)
        rowOf<T>(x.ds, tile.b, row, i / x.valueDim)[i % x.valueDim] = sums[i];
}

}  // namespace

RelBackwardNumbers relBackwardNumbers(const RelArgs& x) {
    const std::size_t size = 1;
    const std::size_t tile = 2 * size * weightCells(x) + (x.relations ? kRelationCells : 0);
    const std::size_t relWidth = size * x.relations * x.relDim;
    const std::size_t symbols = size * x.keyHeads * x.valueDim;
    return {
        tile + kQueries * (size * x.heads * x.keyDim + relWidth),
        tile + kKeys * (size * x.keyHeads * x.keyDim + (x.maxOffset < 0 ? symbols : 0) + relWidth),
        x.maxOffset < 0 ? 0 : size * kLibraryQueries * x.heads + symbols};
}

int launchRelBackwardRows(const RelArgs* args, void* stream) {
    const dim3 grid(tiles(args->queries, kQueries), args->batch);
    return launchRel(*args, KERNELS(relBackwardRows), grid, relSharedBytes(*args).backwardRows,
                     stream);
}

int launchRelBackwardColumns(const RelArgs* args, void* stream) {
    const dim3 grid(tiles(args->keys, kKeys), args->batch);
    return launchRel(*args, KERNELS(relBackwardColumns), grid,
                     relSharedBytes(*args).backwardColumns, stream);
}

int launchRelBackwardLibrary(const RelArgs* args, void* stream) {
    if (args->maxOffset < 0) return cudaErrorInvalidValue;
    const dim3 grid(2 * args->maxOffset + 1, args->batch);
    return launchRel(*args, KERNELS(relBackwardLibrary), grid,
                     relSharedBytes(*args).backwardLibrary, stream);
}

int launchRelBackward(const RelArgs* args, void* stream) {
    int error = launchRelDelta(args, stream);
    if (!error) error = launchRelBackwardRows(args, stream);
    if (!error) error = launchRelBackwardColumns(args, stream);
    if (!error && args->maxOffset >= 0) error = launchRelBackwardLibrary(args, stream);
    return error;
}

}  // namespace relascope::core::kernels
