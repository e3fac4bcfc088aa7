// SPDX-License-Identifier: GPL-3.0-or-later
// Maps of relations and of attention for the inspector: tiles of 64 x 64 cells, thumbnails and
// statistics that do not depend on the order of blocks.
#include "model/kernels/inspect.h"

#include "model/kernels/rel_device.cuh"

namespace relascope::core::kernels {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kTile = 64;
constexpr int kSide = 16, kCells = kTile / kSide;  // a thread has kCells x kCells cells
constexpr int kDepth = 16;                         // of the factors in shared memory at once
constexpr int kPitch = kDepth + 1;                 // so that neighbours use different banks

/// The statistics of some cells.
struct Part {
    double sum;
    std::int64_t count;
    float least, most;
};

__device__ Part noPart() {
    return {0.0, 0, INFINITY, -INFINITY};
}
__device__ void add(Part& to, const Part& part) {
    to.sum += part.sum;
    to.count += part.count;
    to.least = part.least < to.least ? part.least : to.least;
    to.most = part.most > to.most ? part.most : to.most;
}

/// The sum over the block's threads, known to thread 0. `shared` holds kWarps parts.
__device__ Part blockSum(Part part, Part* shared) {
    part = {laneSum<32>(part.sum), laneSum<32>(part.count), -laneMax<32>(-part.least),
            laneMax<32>(part.most)};
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < kWarps; ++i) add(part, shared[i]);
    return part;
}

/// Larger for numbers of larger size, so that atomicMax selects; never 0.
__device__ std::uint32_t rankOf(float value) {
    const std::uint32_t bits = __float_as_uint(value);
    return (bits << 1 | bits >> 31) + 1;
}
__device__ float valueOf(std::uint32_t rank) {
    if (rank == 0) return NAN;
    return __uint_as_float((rank - 1) >> 1 | (rank - 1) << 31);
}

__device__ int thumbOf(int index, int thumbs, int count) {
    return static_cast<int>(static_cast<std::int64_t>(index) * thumbs / count);
}

struct MapShared {
    __device__ explicit MapShared(unsigned char* shared) {
        parts = reinterpret_cast<Part*>(shared);
        ranks = reinterpret_cast<std::uint32_t*>(parts + kWarps);
        q = reinterpret_cast<float*>(ranks + kTile * kTile);
        k = q + kTile * kPitch;
    }
    static constexpr std::size_t bytes =
        kWarps * sizeof(Part) + (kTile * kTile + 2 * kTile * kPitch) * sizeof(float);
    Part* parts;           // [kWarps]
    std::uint32_t* ranks;  // [kTile, kTile]: the thumbnail's cells that the tile falls on
    float *q, *k;          // [kTile, kPitch]
};

/// Rows begin .. of a factor, kDepth of their numbers from `depth` on; zero beyond the ends.
__device__ void loadFactor(const MapArgs& x, const View& from, int head, int begin, int rows,
                           int depth, float* to) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
        const int row = begin + i / kDepth, c = depth + i % kDepth;
        to[i / kDepth * kPitch + i % kDepth] =
            row < rows && c < x.width ? rowOf<float>(from, 0, row, head)[c] : 0.0f;
    }
}

/// One block: a tile of a map. grid (tiles of keys, tiles of queries, maps).
__global__ void __launch_bounds__(kThreads) mapTiles(MapArgs x) {
    DYNAMIC_SHARED(unsigned char, memory);
    const MapShared shared(memory);
    const int map = blockIdx.z;
    const int key0 = blockIdx.x * kTile, query0 = blockIdx.y * kTile;
    const int column = threadIdx.x % kSide, row = threadIdx.x / kSide;
    for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) shared.ranks[i] = 0;
    float products[kCells][kCells] = {};
    const bool hidden = x.causal && key0 > query0 + kTile - 1 + x.first;
    for (int depth = 0; depth < x.width && !hidden; depth += kDepth) {
        __syncthreads();
        loadFactor(x, x.q, map, query0, x.queries, depth, shared.q);
        loadFactor(x, x.k, map / x.mapsPerKey, key0, x.keys, depth, shared.k);
        __syncthreads();
        for (int c = 0; c < kDepth; ++c)
#pragma unroll
            for (int i = 0; i < kCells; ++i)
#pragma unroll
                for (int j = 0; j < kCells; ++j)
                    products[i][j] += shared.q[(row + kSide * i) * kPitch + c] *
                                      shared.k[(column + kSide * j) * kPitch + c];
    }
    const int thumbRow0 = thumbOf(query0, x.thumbRows, x.queries);
    const int thumbColumn0 = thumbOf(key0, x.thumbColumns, x.keys);
    Part part = noPart();

#pragma unroll
    for (int i = 0; i < kCells; ++i)
#pragma unroll
        for (int j = 0; j < kCells; ++j) {
            const int query = query0 + row + kSide * i, key = key0 + column + kSide * j;
            if (query >= x.queries || key >= x.keys) continue;
            float value = NAN;
            if (!x.causal || key <= query + x.first) {
                const float product = static_cast<float>(x.scale) * products[i][j];
                value = x.lse
                            ? exponential(product -
                                          x.lse[static_cast<std::int64_t>(map) * x.queries + query])
                            : activated(x.activation, product);
                add(part, {value, 1, value, value});
                const int thumb = (thumbOf(query, x.thumbRows, x.queries) - thumbRow0) * kTile +
                                  thumbOf(key, x.thumbColumns, x.keys) - thumbColumn0;
                if (x.thumbnails) atomicMax(&shared.ranks[thumb], rankOf(value));
            }
            if (x.values)
                x.values[(static_cast<std::int64_t>(map) * x.queries + query) * x.keys + key] =
                    value;
        }
    part = blockSum(part, shared.parts);  // a barrier for `ranks` as well
    if (threadIdx.x == 0)
        static_cast<Part*>(
            x.workspace)[(static_cast<std::int64_t>(map) * gridDim.y + blockIdx.y) * gridDim.x +
                         blockIdx.x] = part;
    if (!x.thumbnails) return;
    // Neighbouring tiles may fall on the same cells.
    auto* ranks = reinterpret_cast<std::uint32_t*>(x.thumbnails) +
                  static_cast<std::int64_t>(map) * x.thumbRows * x.thumbColumns;
    for (int i = threadIdx.x; i < kTile * kTile; i += kThreads)
        if (shared.ranks[i] != 0)
            atomicMax(&ranks[static_cast<std::int64_t>(thumbRow0 + i / kTile) * x.thumbColumns +
                             thumbColumn0 + i % kTile],
                      shared.ranks[i]);
}

/// One block for each map: its statistics, and numbers in place of the thumbnail's ranks.
__global__ void __launch_bounds__(kThreads) mapFinish(MapArgs x, int tilesOfMap) {
    DYNAMIC_SHARED(Part, shared);
    const std::int64_t map = blockIdx.x;
    Part part = noPart();
    for (int i = threadIdx.x; i < tilesOfMap; i += kThreads)
        add(part, static_cast<const Part*>(x.workspace)[map * tilesOfMap + i]);
    part = blockSum(part, shared);
    if (threadIdx.x == 0 && x.statistics)
        x.statistics[map] = {part.sum / static_cast<double>(part.count), part.least, part.most};
    if (!x.thumbnails) return;
    float* thumbnail = x.thumbnails + map * x.thumbRows * x.thumbColumns;
    for (int i = threadIdx.x; i < x.thumbRows * x.thumbColumns; i += kThreads)
        thumbnail[i] = valueOf(__float_as_uint(thumbnail[i]));
}

int tilesOf(int count) {
    return (count + kTile - 1) / kTile;
}

bool isConsistent(const MapArgs& x) {
    return x.queries > 0 && x.keys > 0 && x.width > 0 && x.maps > 0 && x.mapsPerKey > 0 &&
           x.first >= 0 && x.workspace &&
           (!x.thumbnails || (x.thumbRows > 0 && x.thumbRows <= x.queries && x.thumbColumns > 0 &&
                              x.thumbColumns <= x.keys));
}

}  // namespace

std::size_t mapWorkspaceBytes(const MapArgs& x) {
    return sizeof(Part) * x.maps * tilesOf(x.queries) * tilesOf(x.keys);
}

int launchMaps(const MapArgs* args, void* stream) {
    const auto& x = *args;
    if (!isConsistent(x)) return cudaErrorInvalidValue;
    if (x.thumbnails)
        if (const auto error = cudaMemsetAsync(
                x.thumbnails, 0,
                sizeof(float) * static_cast<std::size_t>(x.maps) * x.thumbRows * x.thumbColumns,
                static_cast<cudaStream_t>(stream));
            error != cudaSuccess)
            return error;
    const dim3 grid(tilesOf(x.keys), tilesOf(x.queries), x.maps);
    LAUNCH(mapTiles, grid, kThreads, MapShared::bytes, stream, x);
    if (const auto error = cudaGetLastError(); error != cudaSuccess) return error;
    LAUNCH(mapFinish, x.maps, kThreads, kWarps * sizeof(Part), stream, x,
           tilesOf(x.queries) * tilesOf(x.keys));
    return cudaGetLastError();
}

}  // namespace relascope::core::kernels
