// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of one stack: their options, the stream they stand on and what the model decides. No
// torch here: models are built from it, and their shapes counted.
#pragma once

#include <cstdint>

#include "types/block_options.h"

namespace relascope::core {

/// What the model decides for a stack of blocks, beside the options (models.md 4).
struct StackOptions {
    BlockOptions block;
    std::int64_t d_model = 0;
    bool dual = false;  ///< relational heads beside the sensory ones
    bool causal = false;
    bool rope = false;
    bool feedForwardBias = false;
    bool decoder = false;  ///< blocks also attend to the encoder
    /// Of a decoder: its heads that attend to the encoder.
    std::int64_t crossHeads = 0, crossKeyHeads = 0, crossKeyDim = 0;
    bool crossBiasKv = false, crossBiasOut = false;

    std::int64_t headDim() const {
        return d_model / (block.n_heads_sa + (dual ? block.n_heads_ra : 0));
    }
};

}  // namespace relascope::core
