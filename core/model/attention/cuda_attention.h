// SPDX-License-Identifier: GPL-3.0-or-later
// Attention on CUDA by kernels of our own (model/kernels), where their library is loaded: all heads
// of a tile of queries at a time, without scores in memory; the backward pass recomputes them.
#pragma once

#include <torch/types.h>

#include "model/attention/attention.h"
#include "model/attention/cuda_check.h"
#include "model/attention/kernel_options.h"

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

/// The kernels that take a call.
enum class CudaKernels {
    None,     ///< the forms by LibTorch do
    Float32,  ///< multiply-adds, any shape; 16-bit inputs are widened, and the results narrowed
    Tensor    ///< tensor cores: bf16 and fp16, at the sizes of the published models
};

/// Which kernels of the library take them. The inputs are float32 or one 16-bit type, or any of
/// these under autocast, whose type then counts; the activation is not softmax; the widths fit a
/// block's shared memory. Tensor cores: if they also have the gradients, where any are needed.
CudaKernels servingCuda(const CudaAttentionInput& in, const KernelOptions& options);
/// The same of a table and a type, for tensor cores alone.
bool servesTensorCores(const CheckedKernels& kernels, const CudaAttentionInput& in,
                       const KernelOptions& options, torch::ScalarType type, bool gradients);
/// Whether those that serve are expected to be the fastest form.
bool prefersCuda(CudaKernels serving, const CudaAttentionInput& in, const KernelOptions& options);

/// Those that a module of that form uses: of the automatic one if they serve and are preferred.
CudaKernels chosenCuda(AttentionForm form, const CudaAttentionInput& in,
                       const KernelOptions& options);

/// The heads' outputs, joined: [b, n, h d_h], in the type that LibTorch's forms give: that of
/// autocast, or of the inputs. By kernels that serve the call; throws Error if the device refuses a
/// launch.
torch::Tensor cudaAttention(const CudaAttentionInput& in, const KernelOptions& options,
                            CudaKernels kernels);
/// The same by a table that was not checked.
torch::Tensor cudaAttention(const kernels::KernelTable& table, const CudaAttentionInput& in,
                            const KernelOptions& options, CudaKernels kernels);

}  // namespace relascope::core
