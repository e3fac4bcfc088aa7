// SPDX-License-Identifier: GPL-3.0-or-later
// Plain, loop-written references in double precision: what the formulas of models.md say, cell by
// cell.
#pragma once

#include <torch/types.h>

#include "model/attention/relational_attention.h"
#include "support/rooms.h"

namespace relascope::reference {

/// softmax(q k^T / sqrt(d_h)) of one input: q [n, h * key], k [n, kv * key] -> [h, n, n].
torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, std::int64_t heads,
                        std::int64_t kvHeads, std::int64_t headDim, bool causal);

/// The whole relational attention of one input x [n, d] with symbols s [n, d] (or s_ij [n, n, d]),
/// from the module's own weights: [n, h * d_h].
torch::Tensor relational(RelationalAttentionImpl& module, const RelationalOptions& options,
                         const torch::Tensor& x, const torch::Tensor& symbols);
torch::Tensor cross(RelationalCrossAttentionImpl& module, const RelationalOptions& options,
                    const torch::Tensor& x, const torch::Tensor& symbols);
torch::Tensor disentangled(DisentangledCrossAttentionImpl& module, const RelationalOptions& options,
                           const torch::Tensor& x, const torch::Tensor& symbols);
torch::Tensor sensory(AttentionImpl& module, const HeadOptions& options, const torch::Tensor& x);

}  // namespace relascope::reference
