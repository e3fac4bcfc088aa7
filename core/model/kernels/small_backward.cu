// SPDX-License-Identifier: GPL-3.0-or-later
// Attention for few tokens: the backward pass. Weights and relations are computed again, so that
// the forward pass keeps nothing. Each gradient is the sum of one thread in a fixed order.
#include "model/kernels/small.h"
#include "model/kernels/small_block.cuh"
#include "model/kernels/small_launch.cuh"

namespace relascope::core::kernels {
namespace {

/// slopes = <dO_i, s_j>, what the symbols add to dA.
template <class T>
__device__ void symbolSlopes(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries, m = x.keys;
    T* const slopes = block.at(z.slopes);
    if (x.maxOffset < 0) {
        forEachProduct(z.heads, z.share, n, m, block.reach(), x.valueDim, z.valueRow,
                       block.at(z.dOut), block.at(z.s), [&](int h, int i, int j, T sum) {
                           slopes[(h * n + i) * z.cellRow + j] = sum;
                       });
        return;
    }
    for (int index = threadIdx.x; index < z.heads * n * m; index += blockDim.x) {
        const int j = index % m, row = index / m, i = row % n, keyHead = row / n / z.share;
        const T* s = block.at(z.s) + (keyHead * z.symbols + symbolOf(block, i, j)) * z.valueRow;
        slopes[row * z.cellRow + j] = dot(block.at(z.dOut) + row * z.valueRow, s, x.valueDim);
    }
}

/// Computes, for the chunk from relation l0, the products of q_rel and k_rel into `cells`, and
/// dRelated[h, i, l] = sum_c dO_i^h[c] W_r^h[c, l].
template <class T>
__device__ void computeChunk(const SmallBlock<T>& block, int l0) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int count = block.relationsAt(l0);
    computeCells(block, l0, [](T u) { return u; });
    for (int index = threadIdx.x; index < z.heads * x.queries * count; index += blockDim.x) {
        const int l = index % count, row = index / count, h = row / x.queries;
        const T* dOut = block.at(z.dOut) + row * z.valueRow;
        const T* wr = rowOf<const T>(block.part.wr, 0, 0, block.head0 + h) + l0 + l;
        T sum = 0;
        for (int c = 0; c < x.valueDim; ++c) sum += dOut[c] * wr[c * block.part.wr.token];
        block.at(z.dRelated)[row * z.chunk + l] = sum;
    }
}

/// slopes[h, i, j] += sum_l dRelated[h, i, l] r_ij^l of the chunk.
template <class T>
__device__ void addRelationSlopes(const SmallBlock<T>& block, int l0) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries, m = x.keys, count = block.relationsAt(l0);
    const int bands = (z.heads + kBand - 1) / kBand;
    for (int index = threadIdx.x; index < bands * n * m; index += blockDim.x) {
        const int j = index % m, i = index / m % n, h0 = index / m / n * kBand;
        const T* gradients[kBand];
#pragma unroll
        for (int t = 0; t < kBand; ++t)
            gradients[t] = block.at(z.dRelated) + (min(h0 + t, z.heads - 1) * n + i) * z.chunk;
        const T* cells = block.at(z.cells) + i * z.cellRow + j;
        T sums[kBand] = {};
        for (int l = 0; l < count; ++l) {
            const T r = activated(x.activation, cells[l * n * z.cellRow]);
#pragma unroll
            for (int t = 0; t < kBand; ++t) sums[t] += gradients[t][l] * r;
        }
#pragma unroll
        for (int t = 0; t < kBand; ++t)
            if (h0 + t < z.heads) block.at(z.slopes)[((h0 + t) * n + i) * z.cellRow + j] += sums[t];
    }
}

template <class T>
__device__ void writeQueriesAndKeys(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries, m = x.keys, cells = n * z.cellRow;
    const T* slopes = block.at(z.slopes);
    const auto ofQuery = [&](int h, int i0, int c, T(&sums)[kBand]) {
        addRows(slopes + h * cells, z.cellRow, block.at(z.k) + h / z.share * m * z.keyRow + c,
                z.keyRow, i0, n, block.end(i0 + kBand - 1), sums);
    };
    forEachBand<T>(z.heads, n, x.keyDim, ofQuery, [&](int h, int i, int c, T sum) {
        rowOf<T>(x.dq, block.b, i, block.head0 + h)[c] = T(x.scale) * sum;
    });
    const auto ofKey = [&](int g, int j0, int c, T(&sums)[kBand]) {
        for (int h = g * z.share; h < (g + 1) * z.share; ++h)
            addColumns(slopes + h * cells, z.cellRow, block.at(z.q) + h * n * z.keyRow + c,
                       z.keyRow, j0, m, max(0, j0 - block.reach()), n, sums);
    };
    forEachBand<T>(z.keyHeads, m, x.keyDim, ofKey, [&](int g, int j, int c, T sum) {
        rowOf<T>(x.dk, block.b, j, block.keyHead0 + g)[c] = T(x.scale) * sum;
    });
}

/// ds of a symbol for each key.
template <class T>
__device__ void writeSymbols(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries;
    const auto ofKey = [&](int g, int j0, int c, T(&sums)[kBand]) {
        for (int h = g * z.share; h < (g + 1) * z.share; ++h)
            addColumns(block.at(z.weights) + h * n * z.cellRow, z.cellRow,
                       block.at(z.dOut) + h * n * z.valueRow + c, z.valueRow, j0, x.keys,
                       max(0, j0 - block.reach()), n, sums);
    };
    forEachBand<T>(z.keyHeads, x.keys, x.valueDim, ofKey, [&](int g, int j, int c, T sum) {
        rowOf<T>(x.ds, block.b, j, block.keyHead0 + g)[c] = sum;
    });
}

/// The weights of each query with the first and the last library row, which serve all keys beyond
/// them as well; with a single row the first has them all.
template <class T>
__device__ void foldWeights(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int rows = z.heads * x.queries;
    for (int row = threadIdx.x; row < rows; row += blockDim.x) {
        const T* weights = block.at(z.weights) + row * z.cellRow;
        const int i = row % x.queries, own = i + x.first;
        T first = 0, last = 0;
        for (int j = 0; j < block.end(i); ++j) {
            if (j <= own - x.maxOffset || x.maxOffset == 0)
                first += weights[j];
            else if (j >= own + x.maxOffset)
                last += weights[j];
        }
        block.at(z.folds)[row] = first;
        block.at(z.folds)[rows + row] = last;
    }
}

/// ds of a library. An inner row has one key at most for a query.
template <class T>
__device__ void writeLibrary(const SmallBlock<T>& block) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries, library = 2 * x.maxOffset + 1;
    for (int index = threadIdx.x; index < library * z.keyHeads * x.valueDim; index += blockDim.x) {
        const int c = index % x.valueDim, g = index / x.valueDim % z.keyHeads;
        const int row = index / x.valueDim / z.keyHeads;
        const int offset = x.first + row - x.maxOffset;  // the key of query 0
        const bool outer = row == 0 || row == library - 1;
        const int begin = max(0, -offset), end = outer ? n : min(n, x.keys - offset);
        T sum = 0;
        for (int h = g * z.share; h < (g + 1) * z.share; ++h)
            for (int i = begin; i < end; ++i) {
                const T weight = outer ? block.at(z.folds)[((row > 0) * z.heads + h) * n + i]
                                       : block.at(z.weights)[(h * n + i) * z.cellRow + offset + i];
                sum += weight * block.at(z.dOut)[(h * n + i) * z.valueRow + c];
            }
        rowOf<T>(x.ds, block.b, row, block.keyHead0 + g)[c] = sum;
    }
}

/// dW_r[c, l] = sum_i dO_i[c] related_i[l] of the chunk; and `cells` becomes the gradient of the
/// products, relScale act'(u) sum_h A_ij^h dRelated[h, i, l].
template <class T>
__device__ void writeWrAndSlopes(const SmallBlock<T>& block, int l0) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries, m = x.keys, count = block.relationsAt(l0);
    const int width = x.valueDim * count;
    for (int index = threadIdx.x; index < z.heads * width; index += blockDim.x) {
        const int l = index % count, c = index / count % x.valueDim, h = index / width;
        T sum = 0;
        for (int i = 0; i < n; ++i)
            sum += block.at(z.dOut)[(h * n + i) * z.valueRow + c] *
                   block.at(z.related)[(h * n + i) * z.chunk + l];
        rowOf<T>(block.part.dwr, block.b, c, block.head0 + h)[l0 + l] = sum;
    }
    for (int index = threadIdx.x; index < count * n * m; index += blockDim.x) {
        const int j = index % m, i = index / m % n, l = index / m / n;
        T& cell = block.at(z.cells)[(l * n + i) * z.cellRow + j];
        T sum = 0;
        for (int h = 0; h < z.heads; ++h)
            sum += block.at(z.weights)[(h * n + i) * z.cellRow + j] *
                   block.at(z.dRelated)[(h * n + i) * z.chunk + l];
        cell = T(x.relScale) * slopeOf(x.activation, cell) * sum;
    }
}

/// dqRel and dkRel of the chunk, or dqRel of both.
template <class T>
__device__ void writeRelations(const SmallBlock<T>& block, int l0) {
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const int n = x.queries, m = x.keys, count = block.relationsAt(l0), cells = n * z.cellRow;
    const auto ofQuery = [&](int l, int i0, int c, T(&sums)[kBand]) {
        addRows(block.at(z.cells) + l * cells, z.cellRow, block.at(z.kRel) + l * m * z.relRow + c,
                z.relRow, i0, n, block.end(i0 + kBand - 1), sums);
    };
    const auto ofKey = [&](int l, int j0, int c, T(&sums)[kBand]) {
        addColumns(block.at(z.cells) + l * cells, z.cellRow,
                   block.at(z.qRel) + l * n * z.relRow + c, z.relRow, j0, m,
                   max(0, j0 - block.reach()), n, sums);
    };
    const auto ofBoth = [&](int l, int i0, int c, T(&sums)[kBand]) {
        ofQuery(l, i0, c, sums);
        if (block.part.symmetric) ofKey(l, i0, c, sums);
    };
    forEachBand<T>(count, n, x.relDim, ofBoth, [&](int l, int i, int c, T sum) {
        rowOf<T>(x.dqRel, block.b, i, l0 + l)[block.group * block.part.dqRelGroup + c] = sum;
    });
    if (block.part.symmetric) return;
    forEachBand<T>(count, m, x.relDim, ofKey, [&](int l, int j, int c, T sum) {
        rowOf<T>(x.dkRel, block.b, j, l0 + l)[block.group * block.part.dkRelGroup + c] = sum;
    });
}

template <class T>
__global__ void __launch_bounds__(kSmallMostThreads)
    smallBackward(const __grid_constant__ SmallLaunch launch) {
    DYNAMIC_SHARED(T, shared);
    const int which = static_cast<int>(blockIdx.y) < launch.firstGroups ? 0 : 1;
    const SmallBlock<T> block(launch.args.parts[which], launch.splits[which],
                              blockIdx.y - which * launch.firstGroups, true, shared);
    const RelArgs& x = block.x;
    const SmallSizes& z = block.z;
    const auto renewChunk = [&](int l0) {
        __syncthreads();
        loadRelations(block, l0);
        __syncthreads();
        computeChunk(block, l0);
        __syncthreads();
    };
    loadHeads(block);
    loadRows(x.dOut, block.b, 0, x.queries, block.head0, z.heads, x.valueDim, z.valueRow,
             block.at(z.dOut));
    if (x.relations > 0) loadRelations(block, 0);
    __syncthreads();
    computeScores(block);
    symbolSlopes(block);
    if (x.relations > 0) computeChunk(block, 0);
    __syncthreads();
    int last = 0;  // the chunk in memory
    for (int l0 = 0; l0 < x.relations; l0 += z.chunk) {
        if (l0 > 0) renewChunk(l0);
        addRelationSlopes(block, l0);
        last = l0;
    }
    __syncthreads();
    softmaxRows<true>(block, keyOf(x.philox));
    __syncthreads();
    writeQueriesAndKeys(block);
    if (x.maxOffset < 0) {
        writeSymbols(block);
    } else {
        foldWeights(block);
        __syncthreads();
        writeLibrary(block);
    }
    // Backwards, since the last chunk is there.
    for (int l0 = last; x.relations > 0 && l0 >= 0; l0 -= z.chunk) {
        if (l0 < last) renewChunk(l0);
        mixRelations(block, block.relationsAt(l0), 0, z.chunk,
                     [&](T u) { return activated(x.activation, u); });
        __syncthreads();
        writeWrAndSlopes(block, l0);
        __syncthreads();
        writeRelations(block, l0);
    }
}

}  // namespace

int launchSmallBackward(const SmallArgs* args, void* stream) {
    return launchSmall(*args, true, KERNELS(smallBackward), stream);
}

}  // namespace relascope::core::kernels
