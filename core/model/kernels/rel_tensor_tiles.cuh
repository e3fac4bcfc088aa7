// SPDX-License-Identifier: GPL-3.0-or-later
// The work of the warps of the tensor-core kernels of relational attention for a tile of queries
// and keys. Every loop over fragments is unrolled: registers need indices known at compile time.
#pragma once

#include <cstdint>

#include "model/kernels/async_copy.cuh"
#include "model/kernels/mma.cuh"
#include "model/kernels/rel_device.cuh"
#include "model/kernels/rel_tensor_shape.cuh"

namespace relascope::core::kernels {

struct TensorTile {
    int b = 0, group = 0;  ///< batch element, and group of heads
    int query0 = 0, key0 = 0;
};

__device__ inline int laneOf() {
    return threadIdx.x % 32;
}
__device__ inline int warpOf() {
    return threadIdx.x / 32;
}

/// Two 16-bit numbers at once; the address is a multiple of 4 bytes.
__device__ inline std::uint32_t loadPair(const std::uint16_t* from) {
#if defined(__CUDACC__)
    return *reinterpret_cast<const std::uint32_t*>(from);
#else
    std::uint32_t pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
#endif
}
__device__ inline void storePair(std::uint16_t* to, std::uint32_t pair) {
#if defined(__CUDACC__)
    *reinterpret_cast<std::uint32_t*>(to) = pair;
#else
    std::memcpy(to, &pair, sizeof pair);
#endif
}

/// Starts the copies of a tile of keys; what lies beyond the keys becomes 0.
template <class S>
__device__ inline void copyKeys(const RelArgs& x, const TensorTile& tile, int key0,
                                std::uint16_t* stage) {
    constexpr int chunks = S::kWidth / 8;
    const auto bytesOf = [&](int key) { return key < x.keys ? 16 : 0; };
    const auto rowAt = [&](const View& view, int key, int head) {
        return rowOf<const std::uint16_t>(view, tile.b, key < x.keys ? key : 0, head);
    };
#pragma unroll 1
    for (int i = threadIdx.x; i < S::kKeyHeads * S::kKeys * chunks; i += S::kThreads) {
        const int chunk = i % chunks, row = i / chunks;
        const int key = key0 + row % S::kKeys, head = tile.group * S::kKeyHeads + row / S::kKeys;
        const int to = swizzled<chunks>(row, chunk);
        copyAsync(stage + to, rowAt(x.k, key, head) + 8 * chunk, bytesOf(key));
        copyAsync(stage + S::kKeyCells + to, rowAt(x.s, key, head) + 8 * chunk, bytesOf(key));
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < S::kKeys * S::kRelations; i += S::kThreads) {
        const int l = i % S::kRelations, key = key0 + i / S::kRelations;
        copyAsync(stage + 2 * S::kKeyCells + swizzled<S::kRelations>(i / S::kRelations, l),
                  rowAt(x.kRel, key, l), bytesOf(key));
    }
    commitCopies();
}

/// Fragments A [16, 8 Registers / 2] of 16 rows (queries or keys) of a tensor, 0 from row `rows`
/// on.
template <int Registers>
__device__ inline void loadRows(std::uint32_t (&to)[Registers], const View& view, int b, int row0,
                                int rows, int head, int column0) {
    const int g = laneOf() / 4, t = laneOf() % 4;
#pragma unroll
    for (int i = 0; i < Registers; ++i) {
        const int row = row0 + g + 8 * (i % 2);
        const int column = column0 + 2 * t + 8 * (i / 2);
        to[i] = row < rows ? loadPair(rowOf<const std::uint16_t>(view, b, row, head) + column) : 0u;
    }
}
template <int Registers>
__device__ inline void loadQueries(std::uint32_t (&to)[Registers], const RelArgs& x,
                                   const View& view, const TensorTile& tile, int row0, int head,
                                   int column0) {
    loadRows(to, view, tile.b, tile.query0 + row0, x.queries, head, column0);
}

/// The products of a warp's queries [kRowTiles, kWidth / 16] with k [keys, kWidth] of its key head.
template <class S>
__device__ inline void multiplyKeys(float (&scores)[S::kRowTiles][S::kOctets][4],
                                    const std::uint32_t (&q)[S::kRowTiles][S::kWidth / 16][4],
                                    const std::uint16_t* k) {
    const int lane = laneOf();
#pragma unroll
    for (int octet = 0; octet < S::kOctets; ++octet) {
#pragma unroll
        for (int m = 0; m < S::kRowTiles; ++m)
#pragma unroll
            for (int i = 0; i < 4; ++i) scores[m][octet][i] = 0.0f;
#pragma unroll
        for (int step = 0; step < S::kWidth / 16; step += 2) {
            std::uint32_t keys[4];  // two steps
            loadMatrix(keys,
                       k + swizzled<S::kWidth / 8>(8 * octet + lane % 8, 2 * step + lane / 8));
            const std::uint32_t first[2] = {keys[0], keys[1]}, second[2] = {keys[2], keys[3]};
#pragma unroll
            for (int m = 0; m < S::kRowTiles; ++m) {
                mma16(typename S::Format{}, scores[m][octet], q[m][step], first);
                mma16(typename S::Format{}, scores[m][octet], q[m][step + 1], second);
            }
        }
    }
}

/// out [kRowTiles, kWidth / 8] += weights [kRowTiles, kKeys / 16] s [keys, kWidth].
template <class S>
__device__ inline void mixSymbols(float (&out)[S::kRowTiles][S::kWidth / 8][4],
                                  const std::uint32_t (&weights)[S::kRowTiles][S::kKeys / 16][4],
                                  const std::uint16_t* s) {
    const int lane = laneOf();
#pragma unroll
    for (int step = 0; step < S::kKeys / 16; ++step)
#pragma unroll
        for (int column = 0; column < S::kWidth / 8; column += 2) {
            std::uint32_t symbols[4];
            loadMatrixTransposed(
                symbols, s + swizzled<S::kWidth / 8>(16 * step + lane % 16, column + lane / 16));
            const std::uint32_t first[2] = {symbols[0], symbols[1]};
            const std::uint32_t second[2] = {symbols[2], symbols[3]};
#pragma unroll
            for (int m = 0; m < S::kRowTiles; ++m) {
                mma16(typename S::Format{}, out[m][column], weights[m][step], first);
                mma16(typename S::Format{}, out[m][column + 1], weights[m][step], second);
            }
        }
}

template <Activation Kind, bool Slope>
__device__ inline void activateCells(float (&cells)[4][4]) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        float& cell = cells[i / 4][i % 4];
        cell = Slope ? slopeOf(Kind, cell) : activated(Kind, cell);
    }
}
/// Activations, or their derivatives: one branch for all cells, in float32.
template <bool Slope>
__device__ inline void activateCells(Activation kind, float (&cells)[4][4]) {
    switch (kind) {
        case Activation::Relu:
            return activateCells<Activation::Relu, Slope>(cells);
        case Activation::Sigmoid:
            return activateCells<Activation::Sigmoid, Slope>(cells);
        case Activation::Tanh:
            return activateCells<Activation::Tanh, Slope>(cells);
        case Activation::Gelu:
            return activateCells<Activation::Gelu, Slope>(cells);
        case Activation::Silu:
            return activateCells<Activation::Silu, Slope>(cells);
        default:
            return;
    }
}

/// The head of the warp among all heads of the model.
template <class S>
__device__ inline int headOf(const TensorTile& tile) {
    return tile.group * S::kHeads + warpOf();
}

/// The warp's relations of all queries of the tile to shared memory. Their queries are in registers
/// (`Held` relations), or read again for each tile of keys where the registers do not suffice: with
/// activations, and with many relations in the backward pass.
template <class S, bool Identity, int Held>
__device__ inline void makeRelations(const RelArgs& x, const TensorTile& tile,
                                     const std::uint32_t (&qRel)[S::kRowTiles][Held][2],
                                     const std::uint16_t* kRel, std::uint16_t* relations) {
    constexpr int perLoad = 4 / S::kOctets;  // relations
    const int lane = laneOf(), g = lane / 4, t = lane % 4, matrix = lane / 8;
    const auto scale = static_cast<float>(x.relScale);
    constexpr bool held = Held == S::kOwnRelations;
#pragma unroll(held ? S::kOwnRelations / perLoad : 1)
    for (int first = 0; first < S::kOwnRelations; first += perLoad) {
        const int l0 = warpOf() * S::kOwnRelations + first;
        std::uint32_t keys[4];
        loadMatrix(keys, kRel + swizzled<S::kRelations>(8 * (matrix % S::kOctets) + lane % 8,
                                                        l0 + matrix / S::kOctets));
#pragma unroll(held ? S::kRowTiles : 1)
        for (int m = 0; m < S::kRowTiles; ++m) {
            float cells[4][4];
#pragma unroll
            for (int each = 0; each < perLoad; ++each) {
                std::uint32_t queries[2];
                if constexpr (held) {
                    queries[0] = qRel[m][first + each][0];
                    queries[1] = qRel[m][first + each][1];
                } else {
                    loadQueries(queries, x, x.qRel, tile, 16 * m, l0 + each, 0);
                }
#pragma unroll
                for (int octet = 0; octet < S::kOctets; ++octet) {
                    float(&cell)[4] = cells[each * S::kOctets + octet];
#pragma unroll
                    for (int i = 0; i < 4; ++i) cell[i] = 0.0f;
                    mma8(typename S::Format{}, cell, queries, keys[each * S::kOctets + octet]);
#pragma unroll
                    for (int i = 0; i < 4; ++i) cell[i] *= scale;
                }
            }
            if constexpr (!Identity) activateCells<false>(x.activation, cells);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                std::uint16_t* const to = relations + (16 * m + g) * S::kRelationRow + 2 * t +
                                          swizzled<S::kOctets>(l0 + i / S::kOctets, i % S::kOctets);
                storePair(to, packed(typename S::Format{}, cells[i][0], cells[i][1]));
                storePair(to + 8 * S::kRelationRow,
                          packed(typename S::Format{}, cells[i][2], cells[i][3]));
            }
        }
    }
}

/// related [kOwnQueries, kRelations / 16] of all heads = factors related + relations weights.
template <class S>
__device__ inline void mixRelations(float (&related)[S::kOwnQueries][S::kRelations / 16][4],
                                    const TensorShared<S>& shared) {
    const int lane = laneOf(), t = lane % 4;
#pragma unroll
    for (int own = 0; own < S::kOwnQueries; ++own) {
        const int row = warpOf() * S::kOwnQueries + own;
        const float even = shared.factors[row * S::kHeads + 2 * t];
        const float odd = shared.factors[row * S::kHeads + 2 * t + 1];
#pragma unroll
        for (int part = 0; part < S::kRelations / 16; ++part)
#pragma unroll
            for (int i = 0; i < 4; ++i) related[own][part][i] *= i % 2 == 0 ? even : odd;
#pragma unroll
        for (int step = 0; step < S::kKeys / 16; ++step) {
            std::uint32_t weights[2];
            loadMatrix(weights, shared.weights + row * S::kWeightRow +
                                    swizzled<S::kOctets>(lane % 8, 2 * step + lane / 8 % 2));
#pragma unroll
            for (int part = 0; part < S::kRelations / 16; ++part) {
                std::uint32_t cells[4];
                loadMatrix(cells,
                           shared.relations + row * S::kRelationRow +
                               swizzled<S::kOctets>(16 * part + lane % 16, 2 * step + lane / 16));
                mma16(typename S::Format{}, related[own][part], cells, weights);
            }
        }
    }
}

}  // namespace relascope::core::kernels
