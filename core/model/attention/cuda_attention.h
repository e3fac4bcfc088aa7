// SPDX-License-Identifier: GPL-3.0-or-later
// Attention on CUDA by kernels of our own (model/kernels), where their library is loaded: on tensor
// cores in 16 bits, at the sizes of the published models, all heads of a tile of queries at a time,
// without scores in memory; the backward pass recomputes them. And one more token against a cache.
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <string>
#include <vector>

#include "model/attention/attention.h"
#include "model/attention/cuda_check.h"
#include "model/attention/kernel_options.h"
#include "model/kernels/kernel_table.h"

namespace relascope::core {

/// The tensors of one call.
struct CudaAttentionInput {
    torch::Tensor q;  ///< [b, h, n, key_dim]
    torch::Tensor k;  ///< [b, g, m, key_dim]; consecutive heads of q share a head of k and v
    /// [b, g, m, d_h]; or, if `maxOffset` >= 0, the library [g, 2 maxOffset + 1, d_h] of relative
    /// symbols (mixSymbols in relational_attention.h).
    torch::Tensor v;
    std::int64_t maxOffset = -1;
    KernelRelations relations;  ///< undefined tensors: none
    std::int64_t first = 0;     ///< position of query 0 among the keys: those in a cache
};

/// Whether the kernels take such inputs: they are of one 16-bit type, or of any such type and
/// float32 under autocast to one; a size of the published models; the activation is not softmax;
/// and a block has the shared memory, also for the gradients where any are needed.
bool servesCuda(const CudaAttentionInput& in, const KernelOptions& options);
/// Whether the kernels of a table take the inputs in a type, with `gradients` also for the backward
/// pass.
bool servesTensorCores(const CheckedKernels& kernels, const CudaAttentionInput& in,
                       const KernelOptions& options, torch::ScalarType type, bool gradients);
/// Whether a module of that form uses the kernels; in the automatic form only where they are
/// expected to be the fastest.
bool choosesCuda(AttentionForm form, const CudaAttentionInput& in, const KernelOptions& options);

/// The heads' outputs, joined: [b, n, h d_h], in the type that LibTorch's forms give (autocast's,
/// or the inputs'). The kernels must serve the call; throws Error if the device refuses a launch.
torch::Tensor cudaAttention(const CudaAttentionInput& in, const KernelOptions& options);
/// cudaAttention() with the kernels of a table that was not checked.
torch::Tensor cudaAttention(const kernels::KernelTable& table, const CudaAttentionInput& in,
                            const KernelOptions& options);

/// One kind of heads that attend to the tokens themselves.
struct KernelCall {
    CudaAttentionInput in;
    KernelOptions options;
};

/// The sizes of a KernelCall, known before anything is computed.
struct KernelHeads {
    std::int64_t heads = 0, keyHeads = 0, keyDim = 0, valueDim = 0;
    std::int64_t relations = 0, relDim = 0;  ///< 0: none
    std::int64_t maxOffset = -1;             ///< largest offset of relative symbols; -1: none
    std::string relActivation = "identity";
    AttentionForm form = AttentionForm::Automatic;
};

struct DecodingBuffers;  // below

}  // namespace relascope::core

namespace relascope::core::cuda_calls {

// Shared by the callers of our CUDA kernels: how tensors, options, random numbers and streams are
// handed to the kernels. Internal to model/attention.

/// x [b, heads, tokens, width] with consecutive numbers in its rows, as the kernels read them:
/// without a copy where x is a slice of a projection.
torch::Tensor readable(const torch::Tensor& x);
/// The rows of x [b, heads, tokens, width]; an empty view for an undefined tensor.
kernels::View viewOf(const torch::Tensor& x);
/// [b, tokens, heads, width] as [b, heads, tokens, width].
torch::Tensor byHead(const torch::Tensor& x);
/// [b, heads, tokens, width] with the heads of a token side by side, as projections have them.
torch::Tensor emptyLike(const torch::Tensor& x);

/// Whether the kernels have that activation of relations.
bool knowsActivation(const std::string& name);
/// Type, sizes and options without pointers and random numbers.
kernels::RelArgs argsOf(const CudaAttentionInput& in, const KernelOptions& options,
                        torch::ScalarType type = torch::kFloat);
/// The state of the device's generator, which is advanced by one call.
kernels::Philox drawPhilox(const torch::Device& device);
/// The current stream, a cudaStream_t.
void* streamOf(const torch::Device& device);
/// Throws Error if a launch of that pass ("forward") failed.
void require(const kernels::KernelTable& table, int error, const char* pass);

/// cudaDecoding() by kernels that serve the call.
torch::Tensor decodingBy(const CheckedKernels& kernels, const KernelCall& call,
                         const DecodingBuffers& buffers);

}  // namespace relascope::core::cuda_calls

namespace relascope::core {

// One more token of each sequence against a DecodingCache, on CUDA by kernels of our own
// (model/kernels/decode.h): they append to the cache and read its length from the device, so that
// every step has the same shapes and launches.

/// The whole buffers of a module in a cache (DecodingCache::room), its positions and its length.
struct DecodingBuffers {
    torch::Tensor k;          ///< [b, g, capacity, key_dim]
    torch::Tensor v;          ///< [b, g, capacity, d_h]; undefined for relative symbols
    torch::Tensor relations;  ///< k_rel, [b, capacity, d_r d_p]; undefined without relations
    torch::Tensor rotary;     ///< RotaryPositions::table of the capacity; undefined: no rotation
    torch::Tensor past;       ///< DecodingCache::pastOn
};

/// Whether the kernels take x [b, 1, d]: float32 or bfloat16 without gradients and autocast, on a
/// device that the library serves and whose blocks have the shared memory, a form that is automatic
/// or `Cuda`.
bool servesDecoding(const torch::Tensor& x, const KernelHeads& heads, std::int64_t capacity);

/// The joined heads' output, [b, 1, h d_h]. The call has the new token's tensors alone, not rotated
/// yet; its rows are appended to the buffers at position `past`, which the caller advances. Throws
/// Error if the device refuses a launch.
torch::Tensor cudaDecoding(const KernelCall& call, const DecodingBuffers& buffers);

}  // namespace relascope::core
