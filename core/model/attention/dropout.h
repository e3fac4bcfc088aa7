// SPDX-License-Identifier: GPL-3.0-or-later
// Dropout. On the CPU the mask comes from a counter-based generator with one 64-bit seed for each
// call from torch's default generator, so that a bit-exact resume only needs the state of that
// generator.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

namespace relascope::core {

/// x * mask / (1 - p), mask ~ Bernoulli(1 - p), drawn in each call; any shape, float or double. The
/// CPU form is several times faster than torch's serial generator and stores only the seed: the
/// backward pass recomputes the mask.
torch::Tensor dropout(const torch::Tensor& x, double p);

/// A seed for dropoutRows, from torch's default generator.
std::int64_t drawDropoutSeed();
/// Applies the rows from `first` on of the mask that `seed` gives for a whole [.., rows, columns]:
/// x [.., r, c] is the block of those rows and the first c columns. CPU only.
torch::Tensor dropoutRows(const torch::Tensor& x, double p, std::int64_t seed, std::int64_t first,
                          std::int64_t rows, std::int64_t columns);

/// Probability of being dropped by two independent dropouts of probability p in a row: the product
/// of two Bernoulli masks is one Bernoulli mask.
inline double twiceDropped(double p) {
    return 1.0 - (1.0 - p) * (1.0 - p);
}

/// Active in training mode only.
struct DropoutImpl : torch::nn::Module {
    explicit DropoutImpl(double p) : p(p) {}
    torch::Tensor forward(const torch::Tensor& x) { return dropout(x, active()); }
    /// The probability in the present mode.
    double active() const { return is_training() ? p : 0.0; }
    double p;
};
TORCH_MODULE(Dropout);

}  // namespace relascope::core
