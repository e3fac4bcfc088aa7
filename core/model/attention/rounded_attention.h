// SPDX-License-Identifier: GPL-3.0-or-later
// Sensory attention in bfloat16 on processors with AMX tiles: products by oneDNN's kernels for
// blocks, scores and weights in float32 within the cache; the backward pass recomputes them.
#pragma once

#include <torch/types.h>

#include "model/attention/documents.h"
#include "model/attention/kernel_options.h"

namespace relascope::core {

/// Whether `roundedAttention` takes q [b, h, n, key_dim], k [b, g, m, key_dim] and v [b, g, m,
/// d_h]: inside of roundsProducts(), even widths, enough keys, and n == m if `causal`.
bool servesRoundedAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            bool causal);

/// The heads' outputs, joined: [b, n, h d_h] bfloat16. `documents` of causal heads must close no
/// row. Dropout draws the mask of the explicit form.
torch::Tensor roundedAttention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const KernelOptions& options,
                               const Documents& documents = {});

}  // namespace relascope::core
