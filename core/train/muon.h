// SPDX-License-Identifier: GPL-3.0-or-later
// Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"), the form of
// PyTorch's torch.optim.Muon: the momentum of a matrix is brought near the closest matrix with
// orthogonal rows or columns, and scaled so that a step has the size of one of AdamW (Liu et al.
// 2025, arXiv 2502.16982, section 2.2), so that the learning rate of AdamW fits. Private to
// core/train.
#pragma once

#include <torch/types.h>

namespace relascope::core {

/// A matrix [m, n] after five Newton-Schulz steps: its singular vectors with singular values of
/// about 0.7 to 1.2. Of its type: PyTorch computes it in bfloat16 always, this in the float32 of
/// the weights, which is exact enough to repeat.
torch::Tensor orthogonalized(const torch::Tensor& matrix);

/// The change of a weight [m, n] for a learning rate of 1, without decay, by Nesterov momentum;
/// `momentum` is its new running mean of gradients.
torch::Tensor muonUpdate(const torch::Tensor& gradient, const torch::Tensor& momentum,
                         double decayRate);

}  // namespace relascope::core
