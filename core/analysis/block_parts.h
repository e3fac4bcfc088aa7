// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a block of a Transformer that add to its stream.
#pragma once

#include "model/blocks/decoder.h"

namespace relascope::core {

/// Absent ones are null.
struct BlockParts {
    AttentionImpl *sensory = nullptr, *cross = nullptr;
    RelationalHeadsImpl* relational = nullptr;
    FeedForwardImpl* feedForward = nullptr;
};

/// Without a feed-forward part for what is no such block, as that of an Abstractor.
BlockParts partsOf(const torch::nn::Module& module);

}  // namespace relascope::core
