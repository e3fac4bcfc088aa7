// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a block of a Transformer that add to its stream.
#pragma once

#include "model/blocks/decoder.h"

namespace relascope::core {

/// The parts of one block; those that it does without are null.
struct BlockParts {
    AttentionImpl *sensory = nullptr, *cross = nullptr;
    RelationalHeadsImpl* relational = nullptr;
    FeedForwardImpl* feedForward = nullptr;
};

/// The parts of a block. `feedForward` is null where the module is no block of a Transformer, such
/// as a block of an Abstractor.
BlockParts partsOf(const torch::nn::Module& module);

}  // namespace relascope::core
