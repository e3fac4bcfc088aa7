// SPDX-License-Identifier: GPL-3.0-or-later
// Sensory attention in blocks of query rows whose products are oneDNN's kernels for blocks, in
// float32 or in bfloat16; scores and weights are float32 within the cache, and the backward pass
// recomputes them.
#pragma once

#include <torch/types.h>

#include "model/attention/documents.h"
#include "model/attention/kernel_options.h"

namespace relascope::core {

/// Whether `blockAttention` takes q [b, h, n, key_dim], k [b, g, m, key_dim] and v [b, g, m, d_h]
/// and is faster than tiles: float32 on processors with AVX-512, or, inside of roundsProducts(), on
/// those with AMX; even widths, enough keys, and n == m if `causal`.
bool servesBlockAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                          bool causal);

/// The heads' outputs, joined: [b, n, h d_h], bfloat16 inside of roundsProducts(). `documents` of
/// causal heads must close no row. Dropout draws the mask of the explicit form.
torch::Tensor blockAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                             const KernelOptions& options, const Documents& documents = {});

}  // namespace relascope::core
