// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a call of attention kernels, on the CPU (tiled_attention.h) and on CUDA
// (cuda_attention.h).
#pragma once

#include <torch/types.h>

#include <string>

namespace relascope::core {

/// The options of heads that compute softmax(scale q k^T) values, and relations beside it.
struct KernelOptions {
    double scale = 1.0;
    bool causal = false;
    double dropout = 0.0;  ///< on the weights; draws from the default generator of the device
    double relScale = 1.0;
    std::string relActivation = "identity";
};

/// Tensors of relational heads: q_rel [b, d_r, n, d_p], k_rel [b, d_r, m, d_p] (undefined: q_rel,
/// of symmetric relations) and W_r [h, d_h, d_r].
struct KernelRelations {
    torch::Tensor q, k, wr;
};

}  // namespace relascope::core
