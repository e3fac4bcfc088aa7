// SPDX-License-Identifier: GPL-3.0-or-later
// Encoders of public families: BERT (Devlin et al., "BERT: Pre-training of Deep Bidirectional
// Transformers for Language Understanding", 2019, section 3) and RoBERTa (Liu et al. 2019), with
// their output of hidden words.
#pragma once

#include "model/language/language.h"
#include "model/public/public_options.h"

namespace relascope::core {

/// What makes scores of the last stream before the output layer: norm(activation(dense x)).
struct MaskedHeadImpl : torch::nn::Module {
    MaskedHeadImpl(const PublicEncoderOptions& options);
    /// [..., d] -> [..., d].
    torch::Tensor forward(const torch::Tensor& x);

    Linear dense{nullptr};
    Norm norm{nullptr};

private:
    std::string m_activation;
};
TORCH_MODULE(MaskedHead);

/// Under `layers.`, besides the modules of a decoder: `token_types` and `head`.
struct MaskedLMImpl : TransformerLMImpl {
    explicit MaskedLMImpl(const PublicEncoderOptions& options);
    /// tokens [b, n] int64 -> logits [b, n, vocab_size]: at each place of the word there.
    torch::Tensor forward(const ModelInput& tokens) override;

private:
    /// The rows of learned positions, [b, n, d].
    torch::Tensor positions(const torch::Tensor& tokens) const;

    EncoderDetails m_details;
    Embedding m_types{nullptr};  ///< null without
    MaskedHead m_head{nullptr};
};

}  // namespace relascope::core
