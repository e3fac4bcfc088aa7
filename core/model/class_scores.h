// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over the classes of scores, in double precision and without copies: the scores of a
// vocabulary are the largest tensor of a pass.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// Sums of scores [..., classes]: one number for each of [...].
struct ClassSums {
    torch::Tensor normalizer;  ///< ln of the sum of exp(score); float64 on the CPU
    torch::Tensor best;        ///< the first class with the largest score; int64 on the CPU

    /// ln of the probability of classes [...], which are 0 or more.
    torch::Tensor logProbability(const torch::Tensor& scores, const torch::Tensor& classes) const;
};
ClassSums classSums(const torch::Tensor& scores);

/// Compares two tensors of scores [..., classes] of one shape: one number for each of [...];
/// float64 on the CPU.
struct ClassComparison {
    ClassSums first, second;
    torch::Tensor
        divergence;         ///< sum p ln(p / q) of the second's answers q from the first's p, nats
    torch::Tensor largest;  ///< the largest |difference| of the two scores of a class
};
ClassComparison compareClasses(const torch::Tensor& first, const torch::Tensor& second);

}  // namespace relascope::core
