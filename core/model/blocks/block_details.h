// SPDX-License-Identifier: GPL-3.0-or-later
// Details of blocks that are fixed in the papers and differ in other published models. The defaults
// are the papers'. Does not include torch.
#pragma once

#include <cstdint>

namespace relascope::core {

/// Rotary positions (Su et al. 2021): two dimensions of a head turn by position *
/// rope_theta^(-2i/r), where r dimensions turn and i is the pair.
struct RotaryOptions {
    double rope_theta = 10000.0;
    std::int64_t rotary_dims = 0;  ///< r, the first of a head; the rest stays. 0: all
    bool rotary_halves = false;    ///< dims i and i + r/2 are a pair; otherwise 2i and 2i + 1
    /// The scaling of Llama 3.1: frequencies whose wave is longer than original / low positions are
    /// divided by `rope_factor`, those shorter than original / high stay, and between the two it is
    /// a mean of both. 1: no scaling.
    double rope_factor = 1.0;
    double rope_low_freq_factor = 1.0;
    double rope_high_freq_factor = 4.0;
    std::int64_t rope_original = 8192;
    /// nanochat's: turned the other way, by cosines and sines that are rounded to bfloat16.
    bool rotary_backwards = false, rotary_rounded = false;

    /// The dimensions of a head of that width that turn.
    std::int64_t dims(std::int64_t width) const { return rotary_dims > 0 ? rotary_dims : width; }
    bool operator==(const RotaryOptions&) const = default;
};

struct BlockDetails : RotaryOptions {
    double norm_eps = 1e-5;
    std::int64_t head_dim = 0;        ///< 0: d_model / heads
    bool sa_add_bias_q = false;       ///< on the queries
    std::int64_t sliding_window = 0;  ///< i attends to j with 0 <= i - j < window; 0: to all before
    bool parallel_residual = false;   ///< x + attn(norm1 x) + mlp(norm2 x)

    bool operator==(const BlockDetails&) const = default;
};

}  // namespace relascope::core
