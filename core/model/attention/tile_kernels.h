// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU kernels of tiled attention on raw memory: all heads of one
// batch element, a tile of query rows at a time, with no n x m tensor in memory. float32 only.
#pragma once

#include <cstdint>

namespace relascope::core {

/// Rows of one width in memory: element (batch, head, token, i) is at
/// p[batch * b + head * h + token * t + i].
struct TileRows {
    float* p = nullptr;
    std::int64_t batch = 0, head = 0, token = 0;
};

enum class TileActivation { Identity, Relu, Sigmoid, Tanh, Gelu, Silu };

/// One call for b batch elements. Query i attends to key j with
/// alpha = softmax_j(scale <q_i, k_j>), mixes values s_j (or library rows s_{j - i}) and relations
/// r_ij[l] = act(relScale <q_rel_il, k_rel_jl>), and adds W_r times the mixed relations:
/// out_i^a = sum_j A_ij^a (s_j^g + W_r^a r_ij), A = alpha with dropout.
struct TileArgs {
    std::int64_t n = 0, m = 0;             ///< queries and keys
    std::int64_t heads = 0, keyHeads = 0;  ///< consecutive heads share a key head
    std::int64_t keyDim = 0, valueDim = 0;
    std::int64_t relations = 0, relDim = 0;  ///< 0 relations: sensory heads
    float scale = 1.0f, relScale = 1.0f;
    TileActivation activation = TileActivation::Identity;
    bool causal = false;  ///< keys j > i are hidden; needs n == m
    /// The first key of each query's document, [b, n]: with `causal`, keys before it are hidden.
    /// Null: none are.
    const std::int64_t* firstKey = nullptr;
    bool symmetric = false;  ///< k_rel is q_rel: its gradient is added to dqRel
    bool relative = false;   ///< s is a library by offset: its token is (j - i) + n - 1
    /// Dropout: the mask that dropout() gives weights [b, heads, n, m] for the seed. A cell is kept
    /// and multiplied if its random number is not below.
    std::uint32_t dropsBelow = 0;
    float keepScale = 1.0f;
    std::uint64_t seed = 0;

    TileRows q, k, s, qRel, kRel;
    const float* wr = nullptr;  ///< [heads, valueDim, relations]
    TileRows out;               ///< [b, heads, n, valueDim]
    float* mixed = nullptr;     ///< sum_j A r [b, heads, n, relations], kept for the backward pass

    // The backward pass. ds is [b, keyHeads, m or n + m - 1, valueDim], for each batch element also
    // where s is shared.
    TileRows dOut, dq, dk, ds, dqRel, dkRel;
    float* dwr = nullptr;  ///< [b, heads, valueDim, relations]
};

/// The kernels for one vector width.
struct TileKernels {
    /// Floats of working memory that a call needs.
    std::int64_t (*scratch)(const TileArgs&, bool backward);
    /// Batch element `b`; scratch is aligned to 64 bytes.
    void (*forward)(const TileArgs&, std::int64_t b, float* scratch);
    void (*backward)(const TileArgs&, std::int64_t b, float* scratch);
};

/// Plain runs on every CPU.
enum class VectorLevel { Plain, Avx2, Avx512 };

/// The widest level that this CPU has.
VectorLevel bestVectorLevel();
/// Null where the program was built for another kind of processor.
const TileKernels* tileKernels(VectorLevel level);

}  // namespace relascope::core
