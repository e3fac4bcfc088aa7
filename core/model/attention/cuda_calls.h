// SPDX-License-Identifier: GPL-3.0-or-later
// What the callers of our CUDA kernels share: how tensors, options, random numbers and streams are
// handed to them. Internal to model/attention.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "model/attention/cuda_attention.h"
#include "model/attention/cuda_decoding.h"
#include "model/attention/cuda_dual_attention.h"
#include "model/kernels/kernel_table.h"

namespace relascope::core::cuda_calls {

/// x [b, heads, tokens, width] with consecutive numbers in its rows, as the kernels read them:
/// without a copy where x is a slice of a projection.
torch::Tensor readable(const torch::Tensor& x);
/// The rows of x [b, heads, tokens, width]; of an undefined tensor nothing.
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
/// The kernels for a device, if they serve it and were found to compute what LibTorch does, or
/// nullptr.
const kernels::KernelTable* tableFor(const torch::Device& device);
/// W_r [h, d_h, d_r], or gradients of it [b, h, d_h, d_r], as SmallPart and DecodeArgs have it.
kernels::View viewOfWr(const torch::Tensor& x);
/// Bytes of shared memory that a block may have; 0 if the device does not say.
std::size_t sharedLimitOf(const kernels::KernelTable& table, const torch::Device& device);

/// cudaDecoding by the kernels of a table, which serve the call.
torch::Tensor decodingBy(const kernels::KernelTable& table, const KernelCall& call,
                         const DecodingBuffers& buffers);
/// smallAttention by the kernels of a table, which serve the calls.
std::vector<torch::Tensor> smallAttentionBy(const kernels::KernelTable& table,
                                            const std::vector<KernelCall>& calls);
/// Whether a table's kernels for few tokens have room for them on that device.
bool hasRoomForSmall(const kernels::KernelTable& table, const torch::Device& device,
                     const kernels::SmallPart& part);

}  // namespace relascope::core::cuda_calls
