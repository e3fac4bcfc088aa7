// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a block of a Transformer that add to its stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/parts/model_part.h"
#include "model/blocks/decoder.h"
#include "model/nanochat/nanochat.h"

namespace relascope::core {

/// In double precision on the CPU, without gradients; an undefined one stays so.
torch::Tensor precise(const torch::Tensor& t);

/// The parts of one block; those that it does without are null.
struct BlockParts {
    AttentionImpl *sensory = nullptr, *cross = nullptr;
    RelationalHeadsImpl* relational = nullptr;
    FeedForwardImpl* feedForward = nullptr;
    /// nanochat's attention, whose kinds of heads share one output projection.
    NanochatAttentionImpl* shared = nullptr;
    /// Norms of what attention and feed-forward add, and what it is multiplied by behind them.
    NormImpl *attentionBehind = nullptr, *feedBehind = nullptr;
    NormImpl* feedNorm = nullptr;  ///< norm of what the feed-forward reads; null: none
    double residualScale = 1.0;

    /// Whether what a sub-layer adds is its output itself.
    bool addsOutputs() const { return !attentionBehind && residualScale == 1.0; }
};

/// The output of attention [..., d] in double, of its joined heads z [..., h, d_h].
torch::Tensor attentionOutput(const AttentionImpl& attention, const torch::Tensor& z);
/// The output of a feed-forward of rows of what it reads [..., d], in double.
torch::Tensor feedOutput(FeedForwardImpl& feedForward, const torch::Tensor& read);

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
