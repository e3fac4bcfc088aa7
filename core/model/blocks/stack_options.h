// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of one stack: their options, the width of the stream and what the model determines.
// Used for building models and for counting their shapes; does not include torch.
#pragma once

#include <cstdint>

#include "model/blocks/block_details.h"
#include "types/block_options.h"

namespace relascope::core {

/// Properties of a stack of blocks that the model determines, not the options (models.md 4).
struct StackOptions {
    BlockOptions block;
    BlockDetails details;
    std::int64_t d_model = 0;
    std::int64_t symbolDim = 0;  ///< width of the symbols; 0: d_model
    bool dual = false;           ///< relational heads in addition to sensory ones
    bool causal = false;
    bool rope = false;
    bool feedForwardBias = false;
    bool decoder = false;  ///< blocks also attend to the encoder
    /// The cross-attention heads of a decoder.
    std::int64_t crossHeads = 0, crossKeyHeads = 0, crossKeyDim = 0;
    bool crossBiasKv = false, crossBiasOut = false;

    /// The options of one layer, from 0, of a stack whose layers differ.
    StackOptions ofLayer(std::int64_t layer) const {
        auto s = *this;
        const char kind = details.kindOf(layer);
        const bool windowed = kind == 'W' || kind == 'w';
        if (!windowed) s.details.sliding_window = 0;
        if (kind == 'f' || kind == 'w') s.rope = false;
        if (windowed && details.local_rope_theta > 0) {
            s.details.rope_theta = details.local_rope_theta;
            s.details.rope_factor = s.details.rope_attention = 1.0;
            s.details.rope_type = RotaryOptions().rope_type;
        }
        if (!details.hasExperts(layer))
            s.details.experts = 0;
        else if (details.expert_dff > 0)
            s.block.dff = details.expert_dff;
        return s;
    }
    std::int64_t headDim() const {
        if (details.head_dim > 0) return details.head_dim;
        return d_model / (block.n_heads_sa + (dual ? block.n_heads_ra : 0));
    }
};

}  // namespace relascope::core
