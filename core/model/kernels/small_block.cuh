// SPDX-License-Identifier: GPL-3.0-or-later
// The shared memory of a block of the kernels for few tokens, and its products. All threads of the
// block call these functions together; barriers are the caller's. Rows have odd lengths, so that
// lanes which read one column of neighbouring rows find it in different banks.
#pragma once

#include "model/kernels/rel_device.cuh"
#include "model/kernels/small.h"

namespace relascope::core::kernels {

constexpr int kSmallMostThreads = 512;
constexpr int kBand = 4;      // rows that a thread computes at once: one factor serves all of them
constexpr int kRowLanes = 4;  // of a softmax: those that share the words of a dropout mask

/// The share of one block: so many key heads with their heads, relations `chunk` at a time.
struct SmallSplit {
    int keyHeads = 0, chunk = 0;
};

__host__ __device__ inline int oddLength(int width) {
    return width | 1;
}

/// Where things are in shared memory, counted in numbers.
struct SmallSizes {
    __host__ __device__ SmallSizes(const SmallPart& part, const SmallSplit& split, bool backward)
        : keyHeads(split.keyHeads), share(part.rel.heads / part.rel.keyHeads), chunk(split.chunk) {
        const RelArgs& x = part.rel;
        heads = keyHeads * share;
        keyRow = oddLength(x.keyDim), valueRow = oddLength(x.valueDim);
        relRow = oddLength(x.relDim), cellRow = oddLength(x.keys);
        // Only the rows of a library that occur are kept.
        symbol0 = x.maxOffset < 0 ? 0 : symbolRow(x, x.queries - 1, 0);
        symbols = x.maxOffset < 0 ? x.keys : symbolRow(x, 0, x.keys - 1) - symbol0 + 1;
        const std::size_t queries = x.queries, keys = x.keys, rows = queries * heads;
        numbers = 0;
        q = take(rows * keyRow);
        k = take(keys * keyHeads * keyRow);
        s = take(std::size_t(symbols) * keyHeads * valueRow);
        weights = take(rows * cellRow);
        qRel = take(queries * chunk * relRow);
        kRel = part.symmetric ? qRel : take(keys * chunk * relRow);
        cells = take(queries * chunk * cellRow);
        related = take(rows * (backward ? chunk : x.relations));
        dOut = take(backward ? rows * valueRow : 0);
        slopes = take(backward ? rows * cellRow : 0);
        dRelated = take(backward ? rows * chunk : 0);
        folds = take(backward && x.maxOffset >= 0 ? 2 * rows : 0);
    }

    int heads, keyHeads, share, chunk;
    int keyRow, valueRow, relRow, cellRow;  // lengths of rows
    int symbol0, symbols;                   // rows of s
    std::size_t q;                          // [heads, queries, keyRow]
    std::size_t k;                          // [keyHeads, keys, keyRow]
    std::size_t s;                          // [keyHeads, symbols, valueRow]
    std::size_t weights;                    // [heads, queries, cellRow]: scores, then A
    std::size_t qRel, kRel;                 // [chunk, queries or keys, relRow]
    std::size_t cells;  // [chunk, queries, cellRow]: r; backward the products, then their gradients
    std::size_t related;   // [heads, queries, relations]; backward those of a chunk
    std::size_t dOut;      // [heads, queries, valueRow]
    std::size_t slopes;    // [heads, queries, cellRow]: dA, then dscore
    std::size_t dRelated;  // [heads, queries, chunk]
    std::size_t folds;     // [2, heads, queries]
    std::size_t numbers;   // in all

private:
    __host__ __device__ std::size_t take(std::size_t count) {
        const std::size_t begin = numbers;
        numbers += count;
        return begin;
    }
};

/// A launch: the parts with their splits. grid (batch, groups of the first part and of the second).
struct SmallLaunch {
    SmallArgs args;
    SmallSplit splits[2];
    int firstGroups = 0;
};

/// The arguments of a block and its places in shared memory.
template <class T>
struct SmallBlock {
    __device__ SmallBlock(const SmallPart& part, const SmallSplit& split, int group, bool backward,
                          T* shared)
        : part(part),
          x(part.rel),
          z(part, split, backward),
          b(blockIdx.x),
          group(group),
          head0(group * z.heads),
          keyHead0(group * z.keyHeads),
          shared(shared) {}
    __device__ T* at(std::size_t place) const { return shared + place; }
    /// Keys that a query may see are below query + reach + 1.
    __device__ int reach() const { return x.causal ? x.first : x.keys; }
    __device__ int end(int query) const {
        return x.causal ? min(x.keys, query + x.first + 1) : x.keys;
    }
    __device__ int relationsAt(int l0) const { return min(z.chunk, x.relations - l0); }

    const SmallPart& part;
    const RelArgs& x;
    const SmallSizes z;
    const int b, group, head0, keyHead0;
    T* const shared;
};

/// The row of a key head's s in shared memory.
template <class T>
__device__ inline int symbolOf(const SmallBlock<T>& block, int query, int key) {
    return symbolRow(block.x, query, key) - block.z.symbol0;
}

/// Rows of a tensor to [heads, tokens, length].
template <class T>
__device__ inline void loadRows(const View& view, int b, int token0, int tokens, int head0,
                                int heads, int width, int length, T* to) {
    for (int index = threadIdx.x; index < tokens * heads * width; index += blockDim.x) {
        const int c = index % width, row = index / width;
        const int head = row % heads, token = row / heads;
        to[(head * tokens + token) * length + c] =
            rowOf<const T>(view, b, token0 + token, head0 + head)[c];
    }
}

/// q, k and s.
template <class T>
__device__ inline void loadHeads(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    loadRows(x.q, block.b, 0, x.queries, block.head0, z.heads, x.keyDim, z.keyRow, block.at(z.q));
    loadRows(x.k, block.b, 0, x.keys, block.keyHead0, z.keyHeads, x.keyDim, z.keyRow,
             block.at(z.k));
    loadRows(x.s, block.b, z.symbol0, z.symbols, block.keyHead0, z.keyHeads, x.valueDim, z.valueRow,
             block.at(z.s));
}

/// q_rel and k_rel of the chunk that begins with relation l0.
template <class T>
__device__ inline void loadRelations(const SmallBlock<T>& block, int l0) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int count = block.relationsAt(l0);
    loadRows(x.qRel, block.b, 0, x.queries, l0, count, x.relDim, z.relRow, block.at(z.qRel));
    if (!block.part.symmetric)
        loadRows(x.kRel, block.b, 0, x.keys, l0, count, x.relDim, z.relRow, block.at(z.kRel));
}

/// Calls give(h, i, j, sum_c x[h, i, c] y[h / share, j, c]) for n rows of x and m of y a head. Keys
/// beyond i + reach, which are hidden, may be given 0.
template <class T, class Give>
__device__ inline void forEachProduct(int heads, int share, int n, int m, int reach, int width,
                                      int length, const T* x, const T* y, Give give) {
    const int bands = (n + kBand - 1) / kBand;
    for (int index = threadIdx.x; index < heads * bands * m; index += blockDim.x) {
        const int j = index % m, i0 = index / m % bands * kBand, h = index / m / bands;
        const T* rows[kBand];
#pragma unroll
        for (int t = 0; t < kBand; ++t) rows[t] = x + (h * n + min(i0 + t, n - 1)) * length;
        const T* column = y + (h / share * m + j) * length;
        T sums[kBand] = {};
        const int end = j <= i0 + kBand - 1 + reach ? width : 0;
        for (int c = 0; c < end; ++c) {
            const T factor = column[c];
#pragma unroll
            for (int t = 0; t < kBand; ++t) sums[t] += rows[t][c] * factor;
        }
#pragma unroll
        for (int t = 0; t < kBand; ++t)
            if (i0 + t < n) give(h, i0 + t, j, sums[t]);
    }
}

/// Calls make(h, i0, c, sums) and then give(h, i, c, sums[i - i0]) for bands of n rows with `width`
/// columns.
template <class T, class Make, class Give>
__device__ inline void forEachBand(int heads, int n, int width, Make make, Give give) {
    const int bands = (n + kBand - 1) / kBand;
    for (int index = threadIdx.x; index < heads * bands * width; index += blockDim.x) {
        const int c = index % width, i0 = index / width % bands * kBand, h = index / width / bands;
        T sums[kBand] = {};
        make(h, i0, c, sums);
#pragma unroll
        for (int t = 0; t < kBand; ++t)
            if (i0 + t < n) give(h, i0 + t, c, sums[t]);
    }
}

/// sums[t] += sum_j p[i0 + t, j] y[j, c], j < end: n rows p of one head, y begins at column c.
template <class T>
__device__ inline void addRows(const T* p, int cellRow, const T* y, int length, int i0, int n,
                               int end, T (&sums)[kBand]) {
    const T* rows[kBand];
#pragma unroll
    for (int t = 0; t < kBand; ++t) rows[t] = p + min(i0 + t, n - 1) * cellRow;
    for (int j = 0; j < end; ++j) {
        const T factor = y[j * length];
#pragma unroll
        for (int t = 0; t < kBand; ++t) sums[t] += rows[t][j] * factor;
    }
}

/// sums[t] += sum_i p[i, j0 + t] x[i, c], begin <= i < n.
template <class T>
__device__ inline void addColumns(const T* p, int cellRow, const T* x, int length, int j0, int m,
                                  int begin, int n, T (&sums)[kBand]) {
    int columns[kBand];
#pragma unroll
    for (int t = 0; t < kBand; ++t) columns[t] = min(j0 + t, m - 1);
    for (int i = begin; i < n; ++i) {
        const T factor = x[i * length];
#pragma unroll
        for (int t = 0; t < kBand; ++t) sums[t] += p[i * cellRow + columns[t]] * factor;
    }
}

/// The scores, and `cells` from the products of a chunk's relations by of(product).
template <class T>
__device__ inline void computeScores(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    forEachProduct(z.heads, z.share, x.queries, x.keys, block.reach(), x.keyDim, z.keyRow,
                   block.at(z.q), block.at(z.k), [&](int h, int i, int j, T sum) {
                       block.at(z.weights)[(h * x.queries + i) * z.cellRow + j] = T(x.scale) * sum;
                   });
}
template <class T, class Of>
__device__ inline void computeCells(const SmallBlock<T>& block, int l0, Of of) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    forEachProduct(block.relationsAt(l0), 1, x.queries, x.keys, block.reach(), x.relDim, z.relRow,
                   block.at(z.qRel), block.at(z.kRel), [&](int l, int i, int j, T sum) {
                       block.at(z.cells)[(l * x.queries + i) * z.cellRow + j] =
                           of(T(x.relScale) * sum);
                   });
}

/// related[h, i, at + l] = sum_j A_ij^h r_ij^l of a chunk, of rows with `length` relations; r from
/// `cells` by of.
template <class T, class Of>
__device__ inline void mixRelations(const SmallBlock<T>& block, int count, int at, int length,
                                    Of of) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries, bands = (z.heads + kBand - 1) / kBand;
    for (int index = threadIdx.x; index < bands * count * n; index += blockDim.x) {
        const int i = index % n, l = index / n % count, h0 = index / n / count * kBand;
        const T* weights[kBand];
#pragma unroll
        for (int t = 0; t < kBand; ++t)
            weights[t] = block.at(z.weights) + (min(h0 + t, z.heads - 1) * n + i) * z.cellRow;
        const T* cells = block.at(z.cells) + (l * n + i) * z.cellRow;
        T sums[kBand] = {};
        for (int j = 0; j < block.end(i); ++j) {
            const T r = of(cells[j]);
#pragma unroll
            for (int t = 0; t < kBand; ++t) sums[t] += weights[t][j] * r;
        }
#pragma unroll
        for (int t = 0; t < kBand; ++t)
            if (h0 + t < z.heads)
                block.at(z.related)[((h0 + t) * n + i) * length + at + l] = sums[t];
    }
}

/// Calls visit(j, which) for the keys of a row that one of its lanes has, below `end`: those whose
/// random bits are the numbers `which` of the same words, in blocks of 32 keys that begin(j) opens.
template <class Begin, class Visit>
__device__ inline void forEachKey(int lane, int end, Begin begin, Visit visit) {
    for (int first = 2 * lane; first < end; first += 32) {
        begin(first);
#pragma unroll
        for (int which = 0; which < 8; ++which) {
            const int j = first + which / 2 * 8 + which % 2;
            if (j < end) visit(j, which);
        }
    }
}
template <class Visit>
__device__ inline void forEachKey(int lane, int end, Visit visit) {
    forEachKey(
        lane, end, [](int) {}, visit);
}

/// Scores become A, those of hidden keys 0; in the backward pass dA becomes dscore as well. A row
/// belongs to kRowLanes neighbouring lanes.
template <bool kBackward, class T>
__device__ inline void softmaxRows(const SmallBlock<T>& block, PhiloxKey key) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int rows = z.heads * x.queries, lane = threadIdx.x % kRowLanes;
    const T kept = T(65536) / T(65536 - static_cast<int>(x.dropThreshold));
    // All lanes take part in every step, since they exchange values.
    for (int first = 0; first < rows; first += blockDim.x / kRowLanes) {
        const int row = first + threadIdx.x / kRowLanes, i = row % x.queries;
        const int keys = row < rows ? x.keys : 0, end = row < rows ? block.end(i) : 0;
        T* const weights = block.at(z.weights) + row * z.cellRow;
        T* const slopes = block.at(z.slopes) + row * z.cellRow;
        T highest = T(-INFINITY), sum = 0;
        forEachKey(lane, end,
                   [&](int j, int) { highest = weights[j] > highest ? weights[j] : highest; });
        highest = laneMax<kRowLanes>(highest);
        forEachKey(lane, end, [&](int j, int) {
            weights[j] = exponential(weights[j] - highest);
            sum += weights[j];
        });
        const T scale = T(1) / laneSum<kRowLanes>(sum);
        const auto number = rowIndex(x, block.b, block.head0 + row / x.queries, i);
        PhiloxWords words{};
        const auto draw = [&](int j) {
            if (x.dropThreshold > 0)
                words = dropoutWords(key, number, static_cast<std::uint32_t>(j / 32 * 4 + lane));
        };
        const auto drops = [&](int which) {
            const std::uint32_t word = which / 2 == 0   ? words.x
                                       : which / 2 == 1 ? words.y
                                       : which / 2 == 2 ? words.z
                                                        : words.w;
            return (which % 2 == 0 ? word & 0xffffu : word >> 16) < x.dropThreshold;
        };
        if constexpr (!kBackward) {
            forEachKey(lane, keys, draw, [&](int j, int which) {
                weights[j] = j < end && !drops(which) ? weights[j] * scale * kept : T(0);
            });
        } else {
            T delta = 0;  // sum_j alpha_j keep_j dA_j
            // The sign remembers what was dropped.
            forEachKey(lane, end, draw, [&](int j, int which) {
                const T alpha = weights[j] * scale;
                const bool dropped = drops(which);
                weights[j] = dropped ? -alpha : alpha;
                slopes[j] = dropped ? T(0) : slopes[j] * kept;
                delta += alpha * slopes[j];
            });
            delta = laneSum<kRowLanes>(delta);
            forEachKey(lane, keys, [&](int j, int) {
                const T alpha = j < end ? weights[j] : T(0);
                weights[j] = alpha > T(0) ? alpha * kept : T(0);
                slopes[j] = j < end ? (alpha < T(0) ? -alpha : alpha) * (slopes[j] - delta) : T(0);
            });
        }
    }
}

}  // namespace relascope::core::kernels
