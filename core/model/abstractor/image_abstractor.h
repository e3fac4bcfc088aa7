// SPDX-License-Identifier: GPL-3.0-or-later
// The Abstractor for images of DAT's Relational Games, with the residual stream of the objects.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "model/abstractor/abstractor_options.h"
#include "model/attention/attention.h"
#include "model/attention/symbols.h"
#include "model/baselines/relational_baselines.h"
#include "model/model.h"
#include "model/vision/vision.h"

namespace relascope::core {

/// A <- A + SA(norm1 A);  A <- x + RCA(norm1 x, A);  A <- A + FF(norm2 A). Post-norm: each sum is
/// normalised instead. The second line adds the objects, so that sensory information is passed on
/// (models.md section 5).
struct ImageAbstractorLayerImpl : torch::nn::Module, RecordingPoint {
    explicit ImageAbstractorLayerImpl(const ImageAbstractorOptions& options);
    torch::Tensor forward(torch::Tensor a, const torch::Tensor& x);

    Attention self_attn{nullptr}, rel_attn{nullptr};
    Norm norm1{nullptr}, norm2{nullptr};
    FeedForward ff_block{nullptr};

private:
    bool m_normFirst;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(ImageAbstractorLayer);

/// `AbstractorModel`: patches, Abstractor, mean, MLP.
struct ImageAbstractorImpl : ModelImpl {
    explicit ImageAbstractorImpl(const ImageAbstractorOptions& options);
    torch::Tensor forward(const ModelInput& images) override;

private:
    ImageAbstractorOptions m_options;
    PatchEmbedding m_patches{nullptr};
    std::shared_ptr<SymbolRetrieverImpl> m_retriever;
    torch::nn::ModuleList m_abstractorLayers;
    Mlp m_predictor{nullptr};
};

}  // namespace relascope::core
