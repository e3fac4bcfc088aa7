// SPDX-License-Identifier: GPL-3.0-or-later
// Models of images of public families (family.h): ViT and its kin, with texts where they have a
// text tower.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include "model/public/public_options.h"
#include "model/vision/vision.h"
#include "options/image_processor.h"

namespace relascope::core {

/// One learned query reads a stream by attention (Zhai et al. 2023): z + mlp(norm z), z =
/// attention(probe, x, x). Points `pool.hook_q` ... `pool.hook_mlp_out`.
struct LearnedQueryImpl : torch::nn::Module {
    explicit LearnedQueryImpl(const PublicImageOptions& options);
    /// x [b, n, d] -> [b, d].
    torch::Tensor forward(const torch::Tensor& x);

    torch::Tensor probe;  ///< [1, 1, d]
    Attention query_attn{nullptr};
    Norm norm{nullptr};
    FeedForward ff_block{nullptr};
};
TORCH_MODULE(LearnedQuery);

/// What a model says of texts, beside what it says of pictures: blocks over tokens, the norm of
/// one place, and its projection.
struct TextTowerImpl : torch::nn::Module {
    explicit TextTowerImpl(const PublicImageOptions& options);
    /// Tokens [b, n] int64 -> features [b, p], before their length is divided out. `before` gets
    /// the stream that enters the first block. Throws OptionError for more tokens than it has
    /// places, or ids outside of its vocabulary.
    torch::Tensor forward(const torch::Tensor& tokens, torch::Tensor* before = nullptr);

    torch::Tensor positions;  ///< [places, d]
    Embedding tokens{nullptr};
    torch::nn::ModuleList blocks;
    Norm norm{nullptr};
    Linear projection{nullptr};

private:
    TextTowerOptions m_options;
};
TORCH_MODULE(TextTower);

/// A head of the features x [b, p] of a model: scores x W' + bias, or of x / |x|.
struct ImageHead {
    torch::Tensor weights;  ///< W [classes, p], double; undefined: there is no head
    torch::Tensor bias;     ///< [classes], double; undefined: none
    bool unit = false;      ///< the features are divided by their length first

    /// [b, classes], computed in double, of the type and on the device of `features`.
    torch::Tensor scores(const torch::Tensor& features) const;
};

struct PublicImageModelImpl : VisionTransformerImpl {
    explicit PublicImageModelImpl(const PublicImageOptions& options);
    torch::Tensor standardised(const torch::Tensor& images) override;

    /// The answer of the stream behind the last block: [b, n, d] -> [b, outputs].
    torch::Tensor ended(const torch::Tensor& x) { return classified(x); }
    /// What the model says of a picture before its last step: [b, n, d] -> [b, p].
    torch::Tensor features(const torch::Tensor& x);
    /// How well texts fit pictures: exp(logit_scale) times the cosine of their features, [b, p] and
    /// [t, p], plus logit_bias: [b, t].
    torch::Tensor fit(const torch::Tensor& pictures, const torch::Tensor& texts) const;

    /// The pooled stream [b, width] of normed tokens [b, n, d], before the projection and its norm.
    torch::Tensor pooled(const torch::Tensor& x);
    const PublicImageOptions& imageOptions() const { return m_image; }

    /// Ends the model with a head; without weights with its own end. Throws OptionError("head",
    /// ...) for features of another width, or for a model with a classifier.
    void setHead(const ImageHead& head);
    const ImageHead& givenHead() const { return m_head; }

    /// A head that was given: features [b, p] -> scores [b, classes]. Null: the model's own end.
    std::function<torch::Tensor(const torch::Tensor&)> head;

    torch::Tensor distillation_token, register_tokens;  ///< [1, count, d], or undefined
    torch::Tensor place_bias;                           ///< shared by all blocks, or undefined
    torch::Tensor logit_scale, logit_bias;
    Norm embed_norm{nullptr}, pooled_norm{nullptr};
    LearnedQuery pool{nullptr};
    Linear projection{nullptr};
    Linear class_out{nullptr}, distillation_out{nullptr};
    TextTower text{nullptr};

protected:
    torch::Tensor firstTokens() const override;
    torch::Tensor positions() const override;
    torch::Tensor encode(torch::Tensor x) override;
    torch::Tensor classified(const torch::Tensor& x) override;

private:
    PublicImageOptions m_image;
    ImageProcessor m_processor;
    ImageHead m_head;
};

}  // namespace relascope::core
