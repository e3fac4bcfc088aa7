// SPDX-License-Identifier: GPL-3.0-or-later
// What every whole model has in common.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <functional>
#include <memory>

#include "model/attention/chunked_attention.h"

namespace relascope::core {

/// The tensors of one batch: images [b, c, H, W] in 0..1, tokens [b, n] int64, objects [b, n, dim],
/// or a source sequence (tokens [b, n] or vectors [b, n, dim]) with the target's input.
struct ModelInput {
    ModelInput(torch::Tensor only) : x(std::move(only)) {}
    ModelInput(torch::Tensor source, torch::Tensor targetIn)
        : x(std::move(source)), target(std::move(targetIn)) {}

    torch::Tensor x;
    torch::Tensor target;  ///< of sequence-to-sequence models; undefined for all others
};

/// Gives scores: [b, classes] for images and objects, [b, n, vocabulary] for tokens, [b, m,
/// out_dim] for a target of m elements. Throws OptionError for an input that is too long, or whose
/// ids lie outside of the vocabulary.
struct ModelImpl : torch::nn::Module {
    virtual torch::Tensor forward(const ModelInput& input) = 0;

    /// Training keeps only the input of each block and computes the rest again for the backward
    /// pass (image and language models).
    bool checkpointsActivations = false;

protected:
    using Block = std::function<torch::Tensor(const torch::Tensor&)>;
    torch::Tensor throughBlock(const Block& block, const torch::Tensor& x) const {
        return checkpointsActivations && is_training() ? activationCheckpoint(block, x) : block(x);
    }
};
using ModelPtr = std::shared_ptr<ModelImpl>;

}  // namespace relascope::core
