// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a block of a Transformer that add to its stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/blocks/decoder.h"
#include "model/nanochat/nanochat.h"
#include "types/lens.h"

namespace relascope::core {

/// The parts of one block; those that it does without are null.
struct BlockParts {
    AttentionImpl *sensory = nullptr, *cross = nullptr;
    RelationalHeadsImpl* relational = nullptr;
    FeedForwardImpl* feedForward = nullptr;
    /// nanochat's attention, whose kinds of heads share one output projection.
    NanochatAttentionImpl* shared = nullptr;
};

/// One kind of heads of BlockParts::shared, with the columns of `wo` that read it.
struct HeadsOfShared {
    PartKind kind;
    std::string hook;
    Linear wo;
};
std::vector<HeadsOfShared> headsOf(const NanochatAttentionImpl& shared);

/// A module of a model by its path, "layers.blocks.0"; null where there is none.
std::shared_ptr<torch::nn::Module> moduleAt(torch::nn::Module& model, const std::string& path);

/// The parts of a block. `feedForward` is null where the module is no block of a Transformer, such
/// as a block of an Abstractor.
BlockParts partsOf(const torch::nn::Module& module);

}  // namespace relascope::core
