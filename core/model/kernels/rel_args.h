// SPDX-License-Identifier: GPL-3.0-or-later
// The arguments of the kernels of relational attention: pointers and numbers alone, so that neither
// LibTorch nor CUDA is needed to fill them in.
#pragma once

#include <cstdint>

namespace relascope::core::kernels {

/// Float32 and, on the CPU's stand-in, Float64 are for decoding alone (decode.h), Float16 for
/// tensor cores alone (rel_tensor.h).
enum class DataType : std::int32_t { Float32, Float64, BFloat16, Float16 };

/// The activations of relations that apply to each r_ij alone, as in activateRow
/// (row_activation.h); gelu is the tanh approximation.
enum class Activation : std::int32_t { Identity, Relu, Sigmoid, Tanh, Gelu, Silu };

/// Rows in memory: element c of row (b, token, head) is data[b batch + token token + head head +
/// c], counted in elements. Slices of one fused projection are read in place. A stride of 0 shares
/// an input between batch elements; outputs need rows of their own.
struct View {
    void* data = nullptr;
    std::int64_t batch = 0, token = 0, head = 0;
};

/// Where the masks of dropout come from: the state of LibTorch's generator. While a CUDA graph is
/// captured the seed and offset are in device memory, and `within` is this call's offset in the
/// graph; otherwise the values count. A call advances the offset by 4.
struct Philox {
    const std::int64_t* seed = nullptr;
    const std::int64_t* offset = nullptr;
    std::uint64_t seedValue = 0, offsetValue = 0, within = 0;
    bool captured = false;
};

/// One call of relational attention. For query i, head a and key j (with its key head)
///   alpha_ij^a = softmax_j(scale <q_i^a, k_j>),  A_ij^a = keep_ij^a alpha_ij^a,
///   r_ij^l = act(relScale <q_rel_i^l, k_rel_j^l>),
///   out_i^a = sum_j A_ij^a s_j,  related_i^a[l] = sum_j A_ij^a r_ij^l.
/// W_r times `related` is the caller's to add. relations = 0: plain attention with values s.
struct RelArgs {
    DataType type = DataType::BFloat16;  ///< type of every tensor; lse and delta are float32
    std::int32_t batch = 0;
    std::int32_t queries = 0, keys = 0;    ///< n and m
    std::int32_t heads = 0, keyHeads = 0;  ///< consecutive heads share a key head
    std::int32_t keyDim = 0, valueDim = 0;
    std::int32_t relations = 0, relDim = 0;  ///< L and p
    std::int32_t first = 0;                  ///< keys cached before query 0: its position
    /// Keys beyond first + i are hidden from query i.
    bool causal = false;
    Activation activation = Activation::Identity;
    double scale = 1.0, relScale = 1.0;
    /// round(65536 P), below 65536: a cell is dropped if its 16 random bits are below, and
    /// multiplied by 65536 / (65536 - dropThreshold) otherwise. 0: no dropout.
    std::uint32_t dropThreshold = 0;
    Philox philox;

    View q;     ///< [batch, queries, heads, keyDim]
    View k;     ///< [batch, keys, keyHeads, keyDim]
    View s;     ///< [batch, keys, keyHeads, valueDim]
    View qRel;  ///< [batch, queries, relations, relDim]
    View kRel;  ///< [batch, keys, relations, relDim]

    View out;             ///< [batch, queries, heads, valueDim], ready for the projection wo
    View related;         ///< [batch, queries, heads, relations]
    void* lse = nullptr;  ///< [batch, heads, queries]: log of the sum of exp(scores) of a row

    // The backward pass reads all of the above.
    View dOut, dRelated;
    void* delta = nullptr;  ///< [batch, heads, queries]: <dOut, out> + <dRelated, related>
    View dq, dk, ds, dqRel, dkRel;
    /// relTensorWorkspaceBytes of device memory, on 8 bytes, for the backward pass on tensor cores.
    void* workspace = nullptr;
};

}  // namespace relascope::core::kernels
