// SPDX-License-Identifier: GPL-3.0-or-later
// One more token of each sequence against a DecodingCache, on CUDA by kernels of our own
// (model/kernels/decode.h): they append to the cache and read its length from the device, so that
// every step has the same shapes and launches.
#pragma once

#include <torch/types.h>

#include "model/attention/cuda_dual_attention.h"

namespace relascope::core {

/// The whole buffers of a module in a cache (DecodingCache::room), and what goes with them.
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
