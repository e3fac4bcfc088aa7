// SPDX-License-Identifier: GPL-3.0-or-later
// Sinusoidal positions in both published layouts.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

namespace relascope::core {

/// Angles p theta^(-2i/d) of the positions [n] float32: [n, d/2].
torch::Tensor rotaryAngles(const torch::Tensor& positions, std::int64_t d, double theta);
/// pe[p, 2i] = sin(p w_i), pe[p, 2i + 1] = cos(p w_i), w_i = 10000^(-2i/d): [n, d] float32.
torch::Tensor interleavedSinusoids(std::int64_t n, std::int64_t d);
/// pe[p] = [all sines ; all cosines], w_i = 10000^(-i/(d/2)) (ABS's framework): [n, d] float32.
torch::Tensor halvedSinusoids(std::int64_t n, std::int64_t d);

/// x sqrt(d) + pe, the table stored as the buffer `pe` [max_length, d] (DAT's sequence models).
struct SinusoidalPositionsImpl : torch::nn::Module {
    SinusoidalPositionsImpl(std::int64_t d, std::int64_t max_length);
    /// x [b, n, d], whose first object stands at position `first`; throws OptionError beyond the
    /// table.
    torch::Tensor forward(const torch::Tensor& x, std::int64_t first = 0);

    torch::Tensor pe;
};
TORCH_MODULE(SinusoidalPositions);

}  // namespace relascope::core
