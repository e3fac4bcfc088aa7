// SPDX-License-Identifier: GPL-3.0-or-later
// The sensory and relational heads of a layer together, on CUDA by the kernels for few tokens
// (model/kernels/small.h): one launch for the forward pass and one for the backward pass. Nothing
// but the inputs is kept between them.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/attention/attention.h"
#include "model/attention/cuda_attention.h"

namespace relascope::core {

/// One kind of heads that attend to the tokens themselves.
struct KernelCall {
    CudaAttentionInput in;
    KernelOptions options;
};

/// The sizes of such a call, known before anything is computed.
struct KernelHeads {
    std::int64_t heads = 0, keyHeads = 0, keyDim = 0, valueDim = 0;
    std::int64_t relations = 0, relDim = 0;  ///< 0: none
    bool symmetric = false;
    std::int64_t maxOffset = -1;  ///< of relative symbols
    std::string relActivation = "identity";
    AttentionForm form = AttentionForm::Automatic;
};

/// Whether the kernels take all of those heads for x [b, n, d]: float32 without autocast, on a
/// device that the library serves and whose blocks have the shared memory, one or two kinds of
/// heads, forms that are automatic or `Cuda`.
bool servesSmall(const torch::Tensor& x, const std::vector<KernelHeads>& heads);

/// The outputs of each kind, with heads joined: [b, n, h d_h]. Where weights are dropped, one state
/// of the device's generator is drawn for each kind in their order, before anything else: with the
/// same states the masks are those of cudaAttention. Throws Error if the device refuses a launch.
std::vector<torch::Tensor> smallAttention(const std::vector<KernelCall>& calls);

}  // namespace relascope::core
