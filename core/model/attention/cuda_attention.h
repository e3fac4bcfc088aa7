// SPDX-License-Identifier: GPL-3.0-or-later
// Attention on CUDA by kernels of our own (model/kernels), where their library is loaded: all heads
// of a tile of queries at a time, without scores in memory; the backward pass recomputes them.
#pragma once

#include <torch/types.h>

#include "model/attention/attention.h"
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

/// Whether the kernels take them: float32 on a device that the library serves, an activation other
/// than softmax, and widths that fit a block's shared memory.
bool servesCuda(const CudaAttentionInput& in, const KernelOptions& options);
/// Whether they are expected to be the fastest form. LibTorch's kernels are better tuned for long
/// sequences, but have neither dropout nor activations nor relative symbols without an n x n
/// matrix.
bool prefersCuda(const CudaAttentionInput& in, const KernelOptions& options);

/// Whether a module of that form uses them: of the automatic one if they serve and are preferred.
inline bool choosesCuda(AttentionForm form, const CudaAttentionInput& in,
                        const KernelOptions& options) {
    return form == AttentionForm::Cuda        ? servesCuda(in, options)
           : form == AttentionForm::Automatic ? prefersCuda(in, options) && servesCuda(in, options)
                                              : false;
}

/// The heads' outputs, joined: [b, n, h d_h]. Throws Error if the device refuses a launch.
torch::Tensor cudaAttention(const CudaAttentionInput& in, const KernelOptions& options);

/// Computes a small problem, its gradients too, with the table's kernels and with LibTorch on that
/// device. Empty if they agree; otherwise a sentence. Done once for a device before its kernels are
/// first used: they may be newer than any device that they were tested on. Draws no random numbers.
std::string cudaKernelsProblem(const kernels::KernelTable& table, const torch::Device& device);

/// Has the table serve tensors on the CPU, in its scope and for all threads. For tests, with the
/// kernels compiled for the CPU.
class CpuKernelsScope {
public:
    explicit CpuKernelsScope(const kernels::KernelTable& table);
    ~CpuKernelsScope();
    CpuKernelsScope(const CpuKernelsScope&) = delete;
    CpuKernelsScope& operator=(const CpuKernelsScope&) = delete;
};

}  // namespace relascope::core
