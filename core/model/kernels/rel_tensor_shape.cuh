// SPDX-License-Identifier: GPL-3.0-or-later
// How a block of the tensor-core kernels of relational attention divides its work, and where its
// numbers lie in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/platform.cuh"

namespace relascope::core::kernels {

/// A block computes Queries queries of Heads heads, Keys keys at a time; warp a is head a. Models
/// with more heads have several such groups, each with the heads of KeyHeads key heads. Stages
/// tiles of keys are in shared memory: with two the next one is copied beside all of the
/// computation of a tile, with one beside its last quarter.
template <class FormatOfTensors, int Heads, int KeyHeads, int Relations, int Queries, int Keys,
          int Stages>
struct TensorShape {
    using Format = FormatOfTensors;
    static constexpr int kHeads = Heads, kKeyHeads = KeyHeads, kRelations = Relations;
    static constexpr int kQueries = Queries, kKeys = Keys, kStages = Stages;
    static constexpr int kWidth = 64;    // of keys and of symbols
    static constexpr int kRelWidth = 8;  // one product m16n8k8 is a relation of 16 x 8 cells
    static constexpr int kThreads = 32 * Heads;
    /// For the larger model: several groups of heads share the relations, so that each group has a
    /// part of the relations' gradients.
    static constexpr bool kGrouped = Relations > 64;
    static constexpr int kRowTiles = Queries / 16, kOctets = Keys / 8;
    // Each warp makes the relations of some l, and mixes those of some queries for all heads.
    static constexpr int kOwnRelations = Relations / Heads, kOwnQueries = Queries / Heads;

    // In shared memory, counted in 16-bit numbers. A stage is what is copied of a tile of keys:
    // k and s [KeyHeads, Keys, kWidth], kRel [Keys, Relations, kRelWidth]. Eight numbers more for
    // each query keep the warps' stores off one another's banks.
    static constexpr int kKeyCells = KeyHeads * Keys * kWidth;
    static constexpr int kStageCells = 2 * kKeyCells + Keys * Relations * kRelWidth;
    static constexpr int kWeightRow = Heads * Keys + 8;        // [Queries][Heads, Keys]
    static constexpr int kRelationRow = Relations * Keys + 8;  // [Queries][Relations, Keys]
    static constexpr std::size_t kSharedBytes =
        2 * (Stages * kStageCells + Queries * (kWeightRow + kRelationRow)) + 4 * Queries * Heads;

    static_assert(Heads == 8, "the heads are the columns of one product");
    static_assert(Heads % KeyHeads == 0 && Queries % 16 == 0 && Relations % 16 == 0);
    static_assert(Keys == 16 || Keys == 32, "a lane's cells of one call of the generator");
    static_assert(Stages == 1 || Stages == 2);
    static_assert(kRowTiles <= 2, "the dropped cells of a lane are 32 bits");
};

/// Where eight numbers (16 bytes) of a matrix with rows of 8 Chunks numbers lie. Rows are not
/// padded: exchanged chunks let eight rows that follow one another fall on different banks.
template <int Chunks>
__host__ __device__ constexpr int swizzled(int row, int chunk) {
    constexpr int rowsPerLine = Chunks < 8 ? 8 / Chunks : 1;  // of the 128 bytes of all banks
    constexpr int mask = Chunks < 8 ? Chunks - 1 : 7;
    return 8 * (row * Chunks + (chunk ^ (row / rowsPerLine & mask)));
}

/// The parts of a block's shared memory.
template <class S>
struct TensorShared {
    __device__ explicit TensorShared(std::uint16_t* shared)
        : stages(shared),
          relations(stages + S::kStages * S::kStageCells),
          weights(relations + S::kQueries * S::kRelationRow),
          factors(reinterpret_cast<float*>(weights + S::kQueries * S::kWeightRow)) {}
    std::uint16_t* stages;
    std::uint16_t* relations;
    std::uint16_t* weights;
    float* factors;  // [Queries, Heads]: of the sums so far; at the end what they are multiplied by
};

}  // namespace relascope::core::kernels
