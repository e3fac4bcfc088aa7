// SPDX-License-Identifier: GPL-3.0-or-later
// A feed-forward block of experts. Shazeer et al. 2017; Mixtral (Jiang et al. 2024), section 2.1.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "model/blocks/layers.h"
#include "model/blocks/recording.h"
#include "model/blocks/stack_options.h"

namespace relascope::core {

/// sum_e w_e FF_e(x) over the chosen experts of each token, those with the largest probabilities of
/// softmax(gate x); w_e is the probability, or its share of those that are chosen. Only the weights
/// of experts that some token chose are read.
struct ExpertsImpl : FeedForwardImpl, RecordingPoint {
    explicit ExpertsImpl(const StackOptions& options);
    /// [b, n, d] -> [b, n, d]. The weights [b, n, experts], 0 where not chosen, are the point
    /// hook_expert_weights.
    torch::Tensor forward(const torch::Tensor& x) override;

    Linear gate{nullptr};
    torch::nn::ModuleList experts{nullptr};

private:
    ExpertOptions m_options;
};

/// The feed-forward block of a layer of a stack (StackOptions::ofLayer()).
FeedForward makeFeedForward(const StackOptions& layer);

}  // namespace relascope::core
