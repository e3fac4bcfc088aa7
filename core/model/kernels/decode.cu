// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of a new token against a cache: blocks that each mix some of the keys, and one that
// combines what they found.
#include "model/kernels/decode.h"

#include "model/kernels/rel_device.cuh"
#include "model/kernels/rel_launch.cuh"

namespace relascope::core::kernels {
namespace {

constexpr int kPartThreads = 256, kCombineThreads = 128;
constexpr int kMostTile = 16;   // keys in shared memory at once: the lanes of a softmax
constexpr int kScoreLanes = 4;  // lanes that compute a score

/// bfloat16 in memory, which every architecture converts by integers.
struct BFloat16Bits {
    std::uint16_t bits;
};

template <class T>
__device__ inline T numberOf(T x) {
    return x;
}
__device__ inline float numberOf(BFloat16Bits x) {
    return __uint_as_float(std::uint32_t{x.bits} << 16);
}
template <class S>
using NumberOf = decltype(numberOf(S{}));

template <class T>
__device__ inline void store(T x, T& to) {
    to = x;
}
__device__ inline void store(float x, BFloat16Bits& to) {
    const std::uint32_t bits = __float_as_uint(x);
    const bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
    to.bits =
        static_cast<std::uint16_t>(isNan ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// Where things are in a block's shared memory, counted in numbers. Rows have odd lengths, so that
/// lanes that read one column find it in different banks.
struct DecodeSizes {
    __host__ __device__ DecodeSizes(const DecodeArgs& x, int tile)
        : keyRow(x.keyDim | 1), valueRow(x.valueDim | 1), relRow(x.relDim | 1) {
        const std::size_t keys = tile, heads = x.heads;
        q = 0;
        qRel = q + heads * keyRow;
        k = qRel + std::size_t(x.relations) * relRow;
        s = k + keys * x.keyHeads * keyRow;
        kRel = s + keys * x.keyHeads * valueRow;
        weights = kRel + keys * x.relations * relRow;
        cells = weights + keys * heads;
        mixed = cells + keys * x.relations;
        related = mixed + heads * x.valueDim;
        highest = related + heads * x.relations;
        sum = highest + heads;
        factor = sum + heads;
        numbers = factor + heads;
    }
    int keyRow, valueRow, relRow;
    std::size_t q, qRel;               // [heads, keyRow], [relations, relRow]
    std::size_t k, s;                  // [keyHeads, tile, keyRow or valueRow]
    std::size_t kRel;                  // [relations, tile, relRow]
    std::size_t weights;               // [heads, tile]: scores, then exp(score - highest)
    std::size_t cells;                 // [relations, tile]: r
    std::size_t mixed;                 // [heads, valueDim], relative to exp(highest) as `related`
    std::size_t related;               // [heads, relations]
    std::size_t highest, sum, factor;  // [heads]
    std::size_t numbers;               // in all
};

/// Numbers that a block leaves for each head: highest, sum, mixed and related.
__host__ __device__ inline int partNumbers(const DecodeArgs& x) {
    return 2 + x.valueDim + x.relations;
}
template <class T>
__device__ inline T* partOf(const DecodeArgs& x, int b, int splits, int split, int head) {
    return static_cast<T*>(x.workspace) +
           ((std::int64_t{b} * splits + split) * x.heads + head) * partNumbers(x);
}

__device__ inline int symbolRowOf(const DecodeArgs& x, int past, int key) {
    return x.maxOffset < 0 ? key : max(key - past, -x.maxOffset) + x.maxOffset;
}

/// Element c of a row, turned to its position.
template <class S>
__device__ inline NumberOf<S> turned(const S* row, int c, const float* angles) {
    using T = NumberOf<S>;
    const T own = numberOf(row[c]);
    if (!angles) return own;
    const T other = numberOf(row[c ^ 1]), cosine = angles[c & ~1], sine = angles[c | 1];
    return c % 2 == 0 ? own * cosine - other * sine : other * sine + own * cosine;
}

/// 16 bytes.
template <class S>
struct alignas(16) Wide {
    static constexpr int kCount = 16 / sizeof(S);
    S values[kCount];
};

template <class S>
__device__ inline bool isWide(const View& view, int width) {
    constexpr int count = Wide<S>::kCount;
    return reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0 && width % count == 0 &&
           view.batch % count == 0 && view.token % count == 0 && view.head % count == 0;
}

/// Rows of `keys` cached tokens to [heads, tile, length]; rowFor(j) is the cache's row.
template <class S, class T, class RowFor>
__device__ inline void loadCached(const View& cache, int b, int keys, int heads, int width,
                                  int tile, int length, T* to, RowFor rowFor) {
    if (isWide<S>(cache, width)) {
        constexpr int count = Wide<S>::kCount;
        const int pieces = width / count;
        for (int index = threadIdx.x; index < keys * heads * pieces; index += blockDim.x) {
            const int c = index % pieces * count, head = index / pieces % heads;
            const int j = index / pieces / heads;
            const auto piece =
                *reinterpret_cast<const Wide<S>*>(rowOf<const S>(cache, b, rowFor(j), head) + c);
#pragma unroll
            for (int i = 0; i < count; ++i)
                to[(head * tile + j) * length + c + i] = numberOf(piece.values[i]);
        }
        return;
    }
    for (int index = threadIdx.x; index < keys * heads * width; index += blockDim.x) {
        const int c = index % width, head = index / width % heads, j = index / width / heads;
        to[(head * tile + j) * length + c] = numberOf(rowOf<const S>(cache, b, rowFor(j), head)[c]);
    }
}

/// The new token's rows, to the cache and as key j of the tile.
template <class S, class T>
__device__ inline void append(const View& from, const View& cache, int b, int past, int heads,
                              int width, const float* angles, int tile, int j, int length, T* to) {
    for (int index = threadIdx.x; index < heads * width; index += blockDim.x) {
        const int c = index % width, head = index / width;
        S& kept = rowOf<S>(cache, b, past, head)[c];
        store(turned(rowOf<const S>(from, b, 0, head), c, angles), kept);
        to[(head * tile + j) * length + c] = numberOf(kept);
    }
}

/// Keys, symbols and relations of a tile; the last key may be the new token.
template <class S, class T>
__device__ void loadTile(const DecodeArgs& x, const DecodeSizes& z, int b, int past, int key0,
                         int keys, int tile, const float* angles, T* shared) {
    const bool appends = key0 + keys - 1 == past;
    const int cached = appends ? keys - 1 : keys;
    const auto own = [&](int j) { return key0 + j; };
    loadCached<S>(x.keyCache, b, cached, x.keyHeads, x.keyDim, tile, z.keyRow, shared + z.k, own);
    loadCached<S>(x.symbolCache, b, x.maxOffset < 0 ? cached : keys, x.keyHeads, x.valueDim, tile,
                  z.valueRow, shared + z.s, [&](int j) { return symbolRowOf(x, past, key0 + j); });
    loadCached<S>(x.relationCache, b, cached, x.relations, x.relDim, tile, z.relRow,
                  shared + z.kRel, own);
    if (!appends) return;
    append<S>(x.k, x.keyCache, b, past, x.keyHeads, x.keyDim, angles, tile, cached, z.keyRow,
              shared + z.k);
    if (x.maxOffset < 0)
        append<S>(x.s, x.symbolCache, b, past, x.keyHeads, x.valueDim, nullptr, tile, cached,
                  z.valueRow, shared + z.s);
    append<S>(x.kRel, x.relationCache, b, past, x.relations, x.relDim, nullptr, tile, cached,
              z.relRow, shared + z.kRel);
}

/// Scores of all heads and r of all relations.
template <class T>
__device__ void scoreTile(const DecodeArgs& x, const DecodeSizes& z, int keys, int tile,
                          T* shared) {
    const int lane = threadIdx.x % kScoreLanes, cells = x.heads * tile;
    // All lanes take part in every step, since they exchange values.
    for (int first = 0; first < cells; first += blockDim.x / kScoreLanes) {
        const int cell = first + threadIdx.x / kScoreLanes, j = cell % tile, a = cell / tile;
        const bool valid = cell < cells && j < keys;
        const T* q = shared + z.q + a * z.keyRow;
        const T* k = shared + z.k + (a / (x.heads / x.keyHeads) * tile + j) * z.keyRow;
        T sum = 0;
        for (int c = lane; valid && c < x.keyDim; c += kScoreLanes) sum += q[c] * k[c];
        sum = laneSum<kScoreLanes>(sum);
        if (valid && lane == 0) shared[z.weights + cell] = T(x.scale) * sum;
    }
    for (int cell = threadIdx.x; cell < x.relations * tile; cell += blockDim.x) {
        const int j = cell % tile, l = cell / tile;
        if (j >= keys) continue;
        shared[z.cells + cell] =
            activated(x.activation,
                      T(x.relScale) * dot(shared + z.qRel + l * z.relRow,
                                          shared + z.kRel + (l * tile + j) * z.relRow, x.relDim));
    }
}

/// One step of the online softmax: weights, and the factor of the sums so far.
template <class T>
__device__ void weighTile(const DecodeArgs& x, const DecodeSizes& z, int keys, int tile,
                          T* shared) {
    const int j = threadIdx.x % kMostTile;
    for (int first = 0; first < x.heads; first += blockDim.x / kMostTile) {
        const int a = first + threadIdx.x / kMostTile;
        const bool valid = a < x.heads && j < keys;
        const T before = a < x.heads ? shared[z.highest + a] : T(0);
        const T score = valid ? shared[z.weights + a * tile + j] : T(-INFINITY);
        const T found = laneMax<kMostTile>(score), highest = found > before ? found : before;
        const T weight = valid ? exponential(score - highest) : T(0);
        const T sum = laneSum<kMostTile>(weight);
        __syncwarp();  // the others have read `highest`
        if (valid) shared[z.weights + a * tile + j] = weight;
        if (a >= x.heads || j != 0) continue;
        const T factor = exponential(before - highest);
        shared[z.factor + a] = factor;
        shared[z.sum + a] = shared[z.sum + a] * factor + sum;
        shared[z.highest + a] = highest;
    }
}

template <class T>
__device__ void mixTile(const DecodeArgs& x, const DecodeSizes& z, int keys, int tile, T* shared) {
    const int share = x.heads / x.keyHeads;
    for (int index = threadIdx.x; index < x.heads * x.valueDim; index += blockDim.x) {
        const int c = index % x.valueDim, a = index / x.valueDim;
        const T* weights = shared + z.weights + a * tile;
        const T* s = shared + z.s + a / share * tile * z.valueRow + c;
        T sum = shared[z.mixed + index] * shared[z.factor + a];
        for (int j = 0; j < keys; ++j) sum += weights[j] * s[j * z.valueRow];
        shared[z.mixed + index] = sum;
    }
    for (int index = threadIdx.x; index < x.heads * x.relations; index += blockDim.x) {
        const int l = index % x.relations, a = index / x.relations;
        const T* weights = shared + z.weights + a * tile;
        const T* r = shared + z.cells + l * tile;
        T sum = shared[z.related + index] * shared[z.factor + a];
        for (int j = 0; j < keys; ++j) sum += weights[j] * r[j];
        shared[z.related + index] = sum;
    }
}

/// One block: some keys of a sequence, all heads. grid (splits of the capacity, batch).
template <class S>
__global__ void __launch_bounds__(kPartThreads) decodeParts(DecodeArgs x, int tile) {
    using T = NumberOf<S>;
    DYNAMIC_SHARED(T, shared);
    const std::int64_t cached = *x.past;
    const int b = blockIdx.y, begin = blockIdx.x * x.keysPerBlock;
    if (cached < begin || cached >= x.capacity) return;  // the whole block
    const int past = static_cast<int>(cached), end = min(past + 1, begin + x.keysPerBlock);
    const DecodeSizes z(x, tile);
    const float* angles = x.rotary ? x.rotary + cached * x.keyDim : nullptr;
    for (int index = threadIdx.x; index < x.heads * x.keyDim; index += blockDim.x) {
        const int c = index % x.keyDim, a = index / x.keyDim;
        shared[z.q + a * z.keyRow + c] = turned(rowOf<const S>(x.q, b, 0, a), c, angles);
    }
    for (int index = threadIdx.x; index < x.relations * x.relDim; index += blockDim.x) {
        const int c = index % x.relDim, l = index / x.relDim;
        shared[z.qRel + l * z.relRow + c] = numberOf(rowOf<const S>(x.qRel, b, 0, l)[c]);
    }
    for (int index = threadIdx.x; index < x.heads; index += blockDim.x) {
        shared[z.highest + index] = T(-INFINITY);
        shared[z.sum + index] = T(0);
    }
    for (int index = threadIdx.x; index < x.heads * x.valueDim; index += blockDim.x)
        shared[z.mixed + index] = T(0);
    for (int index = threadIdx.x; index < x.heads * x.relations; index += blockDim.x)
        shared[z.related + index] = T(0);
    for (int key0 = begin; key0 < end; key0 += tile) {
        const int keys = min(tile, end - key0);
        __syncthreads();
        loadTile<S>(x, z, b, past, key0, keys, tile, angles, shared);
        __syncthreads();
        scoreTile(x, z, keys, tile, shared);
        __syncthreads();
        weighTile(x, z, keys, tile, shared);
        __syncthreads();
        mixTile(x, z, keys, tile, shared);
    }
    __syncthreads();
    const int width = x.valueDim + x.relations;
    for (int index = threadIdx.x; index < x.heads * width; index += blockDim.x) {
        const int c = index % width, a = index / width;
        T* const part = partOf<T>(x, b, gridDim.x, blockIdx.x, a);
        part[2 + c] = c < x.valueDim ? shared[z.mixed + a * x.valueDim + c]
                                     : shared[z.related + a * x.relations + c - x.valueDim];
        if (c == 0) part[0] = shared[z.highest + a], part[1] = shared[z.sum + a];
    }
}

/// One block: a head of a sequence. grid (heads, batch).
template <class S>
__global__ void __launch_bounds__(kCombineThreads) decodeCombine(DecodeArgs x, int splits) {
    using T = NumberOf<S>;
    DYNAMIC_SHARED(T, shared);
    const std::int64_t past = *x.past;
    if (past < 0 || past >= x.capacity) return;  // the whole block
    const int a = blockIdx.x, b = blockIdx.y, lane = threadIdx.x % warpSize;
    const int count = static_cast<int>(past) / x.keysPerBlock + 1;
    T* const factors = shared;          // [splits]
    T* const mixed = shared + splits;   // [valueDim + relations]
    T highest = T(-INFINITY), sum = 0;  // every warp finds them
    for (int split = lane; split < count; split += warpSize) {
        const T found = partOf<T>(x, b, splits, split, a)[0];
        highest = found > highest ? found : highest;
    }
    highest = laneMax<32>(highest);
    for (int split = lane; split < count; split += warpSize) {
        const T* part = partOf<T>(x, b, splits, split, a);
        sum += exponential(part[0] - highest) * part[1];
    }
    sum = laneSum<32>(sum);
    for (int split = threadIdx.x; split < count; split += blockDim.x)
        factors[split] = exponential(partOf<T>(x, b, splits, split, a)[0] - highest) / sum;
    __syncthreads();
    const int width = x.valueDim + x.relations;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        T total = 0;
        for (int split = 0; split < count; ++split)
            total += factors[split] * partOf<T>(x, b, splits, split, a)[2 + c];
        mixed[c] = total;
    }
    __syncthreads();
    for (int c = threadIdx.x / warpSize; c < x.valueDim; c += blockDim.x / warpSize) {
        T related = 0;
        for (int l = lane; l < x.relations; l += warpSize)
            related += numberOf(rowOf<const S>(x.wr, 0, c, a)[l]) * mixed[x.valueDim + l];
        related = laneSum<32>(related);
        if (lane == 0) store(mixed[c] + related, rowOf<S>(x.out, b, 0, a)[c]);
    }
}

std::size_t numberSize(const DecodeArgs& x) {
    return x.type == DataType::Float64 ? 8 : 4;
}

/// Enough blocks for the device where there are few sequences; otherwise fewer parts to combine.
int keysPerBlockOf(const DecodeArgs& x) {
    if (x.keysPerBlock > 0) return x.keysPerBlock;
    const std::int64_t keys = std::int64_t{x.capacity} * x.batch / 256;
    return keys <= 16 ? 16 : keys <= 32 ? 32 : 64;
}

/// Keys in shared memory at once: as many as let two blocks run on a multiprocessor, if any do.
int tileOf(const DecodeArgs& x) {
    for (const std::size_t limit : {x.sharedLimit / 2, x.sharedLimit})
        for (const int tile : {kMostTile, 8, 4})
            if (numberSize(x) * DecodeSizes(x, tile).numbers <= limit) return tile;
    return 0;
}

bool isServable(const DecodeArgs& x) {
    return (x.type == DataType::Float32 || x.type == DataType::BFloat16 ||
            x.type == DataType::Float64) &&
           x.batch >= 0 && x.capacity > 0 && x.heads > 0 && x.keyHeads > 0 &&
           x.heads % x.keyHeads == 0 && x.keyDim > 0 && x.valueDim > 0 && x.relations >= 0 &&
           (x.relations == 0 || x.relDim > 0) && x.maxOffset >= -1 &&
           (!x.rotary || x.keyDim % 2 == 0) && x.keysPerBlock >= 0 &&
           static_cast<int>(x.activation) >= 0 && x.activation <= Activation::Silu;
}

template <class S>
cudaError_t launchDecodeOf(const DecodeArgs& x, int tile, void* stream) {
    const unsigned splits = tiles(x.capacity, x.keysPerBlock);
    const std::size_t bytes = numberSize(x) * DecodeSizes(x, tile).numbers;
    const std::size_t combined = numberSize(x) * (splits + x.valueDim + x.relations);
    for (const auto error :
         {allowSharedBytes(decodeParts<S>, bytes), allowSharedBytes(decodeCombine<S>, combined)})
        if (error != cudaSuccess) return error;
    LAUNCH(decodeParts<S>, dim3(splits, x.batch), kPartThreads, bytes, stream, x, tile);
    if (const auto error = cudaGetLastError(); error != cudaSuccess) return error;
    LAUNCH(decodeCombine<S>, dim3(x.heads, x.batch), kCombineThreads, combined, stream, x,
           static_cast<int>(splits));
    return cudaGetLastError();
}

}  // namespace

std::size_t decodeWorkspaceBytes(const DecodeArgs& x) {
    return numberSize(x) * x.batch * tiles(x.capacity, keysPerBlockOf(x)) * x.heads *
           partNumbers(x);
}

std::size_t decodeSharedBytes(const DecodeArgs& x) {
    const int tile = isServable(x) ? tileOf(x) : 0;
    return tile == 0 ? 0 : numberSize(x) * DecodeSizes(x, tile).numbers;
}

int launchDecode(const DecodeArgs* args, void* stream) {
    DecodeArgs x = *args;
    if (decodeSharedBytes(x) == 0) return cudaErrorInvalidValue;
    if (x.batch == 0) return cudaSuccess;
    const int tile = tileOf(x);
    x.keysPerBlock = keysPerBlockOf(x);
    if (x.type == DataType::Float32) return launchDecodeOf<float>(x, tile, stream);
    if (x.type == DataType::BFloat16) return launchDecodeOf<BFloat16Bits>(x, tile, stream);
#if defined(__CUDACC__)
    return cudaErrorInvalidValue;  // devices are spared these kernels
#else
    return launchDecodeOf<double>(x, tile, stream);
#endif
}

}  // namespace relascope::core::kernels
