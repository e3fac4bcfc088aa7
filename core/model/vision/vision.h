// SPDX-License-Identifier: GPL-3.0-or-later
// Whole vision models: ViDAT (DAT 4.1, 4.3) and its baseline ViT, under the published names.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "model/attention/symbols.h"
#include "model/blocks/dual_attention.h"
#include "model/graph/device_graph.h"
#include "model/model.h"
#include "model/vision/vision_options.h"

namespace relascope::core {

/// How patches become tokens.
enum class PatchForm {
    Normed,       ///< flattened as (row, column, channel), normed, projected, normed
    Convolution,  ///< flattened as (channel, row, column) and projected
};

/// Patches of images [b, c, H, W] -> [b, patches, d]. Registered as `to_patch_embedding` with the
/// published numbers 1, 2, 3, or 2 alone.
struct PatchEmbeddingImpl : torch::nn::Module {
    PatchEmbeddingImpl(const ImageInput& images, std::int64_t d, PatchForm form = PatchForm::Normed,
                       bool bias = true);
    torch::Tensor forward(const torch::Tensor& images);

    /// The pixels of each patch, (row, column, channel): [b, patches, pixels].
    torch::Tensor cut(const torch::Tensor& images) const;
    /// The weight of the projection on pixels in that order, [d, pixels].
    torch::Tensor pixelWeight() const;
    const Linear& projection() const { return m_projection; }
    /// The norms before and after the projection; empty without one.
    const Norm& patchNorm() const { return m_patchNorm; }
    const Norm& norm() const { return m_norm; }

private:
    PatchForm m_form;
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
    /// Images standardised with the mean and deviation of each channel; unchanged without any.
    torch::Tensor of(const torch::Tensor& images, const std::vector<float>& mean,
                     const std::vector<float>& deviation);

private:
    KeptTensor m_mean, m_deviation;
};

/// The common base of both models: patches, class token, learned positions, pooling, classifier.
struct VisionModelImpl : ModelImpl {
    VisionModelImpl(const VisionTransformerOptions& options);
    torch::Tensor forward(const ModelInput& images) override;
    /// Images as the model reads them, without mean and deviation.
    virtual torch::Tensor standardised(const torch::Tensor& images) {
        return m_standardisation.of(images, m_options.image_norm);
    }

    PatchEmbedding to_patch_embedding{nullptr};
    torch::Tensor pos_embedding, cls_token;  ///< [1, patches + 1, d], [1, 1, d]
    torch::nn::ModuleList encoder_blocks;
    Norm final_norm{nullptr};  ///< newer checkpoints: `final_out.0`, the classifier `final_out.1`
    Linear final_out{nullptr};

protected:
    /// A model without patches, tokens and positions, which its class registers.
    struct Bare {};
    VisionModelImpl(const VisionTransformerOptions& options, Bare);
    /// The stack of blocks, [b, n, d] -> [b, n, d].
    virtual torch::Tensor encode(torch::Tensor x) = 0;
    /// Registers the classifier last, as the published classes do (the order of the parameters).
    void addClassifier();
    /// The tokens before the patches, [1, first, d]; undefined: none.
    virtual torch::Tensor firstTokens() const { return cls_token; }
    /// What the places of tokens add, [1, n, d]; undefined: nothing.
    virtual torch::Tensor positions() const { return pos_embedding; }
    /// The scores of the stream after the last block: [b, n, d] -> [b, classes].
    virtual torch::Tensor classified(const torch::Tensor& x);

    VisionTransformerOptions m_options;
    Standardisation m_standardisation;
    Dropout m_dropout{nullptr};
};

struct VisionTransformerImpl : VisionModelImpl {
    explicit VisionTransformerImpl(const VisionTransformerOptions& options);

protected:
    VisionTransformerImpl(const VisionTransformerOptions& options, Bare);
    void addBlocks(const StackOptions& stack);
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
