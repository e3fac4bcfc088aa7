// SPDX-License-Identifier: GPL-3.0-or-later
// Inner products of the factored form of relational attention, after the keys are mixed.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// out[b, h, i, l] = scale sum_p keys[b, h, i, l p] q[b, i, l p]: keys [b, h, n, d_r d_p], q [b, n,
/// d_r d_p] -> [b, h, n, d_r]. One pass over keys on the CPU, forward and backward.
torch::Tensor contractKeys(const torch::Tensor& keys, const torch::Tensor& q,
                           std::int64_t relations, double scale);

}  // namespace relascope::core
