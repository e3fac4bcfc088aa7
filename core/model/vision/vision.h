// SPDX-License-Identifier: GPL-3.0-or-later
// Whole vision models: ViDAT (DAT 4.1, 4.3) and its baseline ViT, under the published names.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include <memory>

#include "model/attention/symbols.h"
#include "model/blocks/dual_attention.h"
#include "model/graph/device_graph.h"
#include "model/model.h"
#include "model/vision/vision_options.h"

namespace relascope::core {

/// Patches flattened as (patch row, patch column, channel), normed, projected, normed; registered
/// as `to_patch_embedding` with the published numbers 1, 2, 3. [b, c, H, W] -> [b, patches, d].
struct PatchEmbeddingImpl : torch::nn::Module {
    PatchEmbeddingImpl(const ImageInput& images, std::int64_t d);
    torch::Tensor forward(const torch::Tensor& images);

private:
    std::int64_t m_width, m_height;
    Norm m_patchNorm{nullptr}, m_norm{nullptr};
    Linear m_projection{nullptr};
};
TORCH_MODULE(PatchEmbedding);

/// Images [b, c, H, W] in 0..1 with a data set's mean and deviation taken out (experiments.md
/// section 3): "none", "cifar10", "cifar100", "fashion-mnist".
class Standardisation {
public:
    torch::Tensor of(const torch::Tensor& images, const std::string& dataSet);

private:
    KeptTensor m_mean, m_deviation;
};

/// Common base of both models: patches, class token, learned positions, pooling and the classifier.
struct VisionModelImpl : ModelImpl {
    VisionModelImpl(const VisionTransformerOptions& options);
    torch::Tensor forward(const ModelInput& images) override;

    PatchEmbedding to_patch_embedding{nullptr};
    torch::Tensor pos_embedding, cls_token;  ///< [1, patches + 1, d], [1, 1, d]
    torch::nn::ModuleList encoder_blocks;
    Norm final_norm{
        nullptr};  ///< of newer checkpoints: `final_out.0`, the classifier `final_out.1`
    Linear final_out{nullptr};

protected:
    /// The stack of blocks, [b, n, d] -> [b, n, d].
    virtual torch::Tensor encode(torch::Tensor x) = 0;
    /// Registers the classifier last, as the published classes do (the order of the parameters).
    void addClassifier();

    VisionTransformerOptions m_options;
    Standardisation m_standardisation;
    Dropout m_dropout{nullptr};
};

struct VisionTransformerImpl : VisionModelImpl {
    explicit VisionTransformerImpl(const VisionTransformerOptions& options);

protected:
    torch::Tensor encode(torch::Tensor x) override;
};

struct VisionDualAttnTransformerImpl : VisionModelImpl {
    explicit VisionDualAttnTransformerImpl(const VisionDualAttnTransformerOptions& options);

    std::shared_ptr<SymbolRetrieverImpl>
        symbol_retriever;  ///< stored, as published, also without relational heads

protected:
    torch::Tensor encode(torch::Tensor x) override;
};

}  // namespace relascope::core
