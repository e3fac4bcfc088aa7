// SPDX-License-Identifier: GPL-3.0-or-later
// The cross entropy of many classes on the CPU, where the plain forms take several passes over all
// scores each way.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Whether the two below take such scores: dense float32 or bfloat16 [rows, classes] on the CPU.
bool hasScoreLoss(const torch::Tensor& scores);
/// The logarithm of the sum of exp(score) of each row: [rows] float32. NaN where a score is.
torch::Tensor scoreNormalizers(const torch::Tensor& scores);
/// The gradient of sum_r weights_r (normalizer_r - score of target_r): of the type and shape of
/// `scores`; targets [rows] int64, weights and normalizers [rows] float32.
torch::Tensor scoreGradient(const torch::Tensor& scores, const torch::Tensor& targets,
                            const torch::Tensor& weights, const torch::Tensor& normalizers);

}  // namespace relascope::core
