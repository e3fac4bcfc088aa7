// SPDX-License-Identifier: GPL-3.0-or-later
// The Abstractor's message-passing form, for sets of objects (pairwise order, SET). ABS 4.1, 4.5.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "model/abstractor/abstractor.h"
#include "model/attention/attention.h"
#include "model/blocks/layers.h"
#include "model/model.h"

namespace relascope::core {

/// R_ij = sigma(<wq x_i, wk x_j>), unscaled; out_i = concat_r( values_r( sum_j R_ijr a_j ) ); then
/// the feed-forward with residual and norm1, [norm2], [self-attention with residual and norm3].
struct MessagePassingLayerImpl : torch::nn::Module, RecordingPoint {
    MessagePassingLayerImpl(const MessagePassingOptions& options, std::int64_t abstractWidth);
    /// a [b, n, abstractWidth], x [b, n, d] -> [b, n, d].
    torch::Tensor forward(const torch::Tensor& a, const torch::Tensor& x);

    Linear wq{nullptr}, wk{nullptr};
    torch::nn::ModuleList values;  ///< one Linear for each relation, to d / n_relations
    FeedForward ff_block{nullptr};
    Norm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
    AbstractorAttention self_attn{nullptr};  ///< n_relations heads of the projection's width

private:
    std::int64_t m_relations;
    std::string m_sigma;
    bool m_softmax;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(MessagePassingLayer);

/// Embedded objects, layers that pass messages between learned symbols along relations, flattened,
/// one hidden relu layer, outputs.
struct MessagePassingAbstractorImpl : ModelWith<MessagePassingOptions> {
    explicit MessagePassingAbstractorImpl(const Options& options);

    Linear embedder{nullptr};
    torch::Tensor symbols;  ///< [n, symbol_dim]
    torch::nn::ModuleList layers;
    Linear hidden{nullptr}, final_out{nullptr};

protected:
    /// objects [b, n, dim] -> [b, out_dim].
    torch::Tensor outputs(const torch::Tensor& objects) override;
};

}  // namespace relascope::core
