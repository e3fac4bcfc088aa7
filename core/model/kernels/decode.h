// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of one new token for each of several sequences against a cache of keys, float32 or
// bfloat16 with float32 sums (float64 too on the CPU's stand-in). The number of cached tokens is
// read from device memory, so that one captured CUDA graph serves every position. The same bits at
// every call.
#pragma once

#include <cstddef>

#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

/// With t = *past the position of the new token and j = 0 .. t:
///   out^a = sum_j alpha_j^a s_j + W_r^a sum_j alpha_j^a r_j,
///   alpha_j^a = softmax_j(scale <q^a, k_j>),  r_j^l = act(relScale <q_rel^l, k_rel_j^l>).
/// The new token's rows are appended to the caches. The views have one token; relations = 0: plain
/// attention.
struct DecodeArgs {
    DataType type = DataType::Float32;  ///< type of all tensors
    std::int32_t batch = 0, capacity = 0;
    std::int32_t heads = 0, keyHeads = 0;
    std::int32_t keyDim = 0, valueDim = 0;
    std::int32_t relations = 0, relDim = 0;
    /// -1: a symbol (or value) s_j for each token. Otherwise symbolCache is a library of relative
    /// symbols, of which s_j is row max(j - t, -maxOffset) + maxOffset, and s is not read.
    std::int32_t maxOffset = -1;
    Activation activation = Activation::Identity;
    double scale = 1.0, relScale = 1.0;
    /// In device memory: tokens in the cache. Outside 0 .. capacity - 1 nothing is written.
    const std::int64_t* past = nullptr;

    View q;     ///< [batch, 1, heads, keyDim]
    View k;     ///< [batch, 1, keyHeads, keyDim]
    View s;     ///< [batch, 1, keyHeads, valueDim]
    View qRel;  ///< [batch, 1, relations, relDim]
    View kRel;  ///< [batch, 1, relations, relDim]
    /// Rotary positions, [capacity, keyDim]: cos and sin of the angle of each pair of neighbours,
    /// by which q and k are turned first; null: none.
    const float* rotary = nullptr;
    View keyCache;       ///< [batch, capacity, keyHeads, keyDim]
    View symbolCache;    ///< [batch, capacity or 2 maxOffset + 1, keyHeads, valueDim]
    View relationCache;  ///< [batch, capacity, relations, relDim]
    View wr;             ///< W_r [heads, valueDim, relations]: token counts valueDim, batch is 0
    View out;            ///< [batch, 1, heads, valueDim]
    void* workspace = nullptr;  ///< decodeWorkspaceBytes of device memory

    std::size_t sharedLimit = 0;    ///< bytes of shared memory that the device gives to a block
    std::int32_t keysPerBlock = 0;  ///< 0: chosen by the sizes
};

std::size_t decodeWorkspaceBytes(const DecodeArgs& args);
/// Bytes of shared memory that a block takes; 0 if the sizes are not served.
std::size_t decodeSharedBytes(const DecodeArgs& args);

/// Starts the two launches of a call; returns a cudaError_t as the launches of rel_tensor.h do.
extern "C" int launchDecode(const DecodeArgs* args, void* stream);

}  // namespace relascope::core::kernels
