// SPDX-License-Identifier: GPL-3.0-or-later
// Cross entropy of class scores, which for a vocabulary are the largest tensor of a training step.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Mean cross entropy of scores [b, classes] or [b, n, classes] and targets [b] or
/// [b, n], without the targets equal to `ignore`. Targets have to be classes or `ignore`
/// (requireLabels() of scoring.h).
torch::Tensor crossEntropy(const torch::Tensor& scores, const torch::Tensor& targets,
                           std::int64_t ignore = -100);

}  // namespace relascope::core
