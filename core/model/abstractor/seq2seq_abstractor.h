// SPDX-License-Identifier: GPL-3.0-or-later
// Sequence to sequence with Abstractors between encoder and decoder: architectures (a) to (d) of
// ABS section 3.3, chains of Abstractors, and the ablation.
#pragma once

#include "model/abstractor/abstractor.h"
#include "model/model.h"
#include "model/seq2seq/seq2seq.h"

namespace relascope::core {

/// (a) abstractor, decoder. (b) encoder, abstractor, decoder. (c) the decoder attends to the
/// encoder and an abstractor of the input. (d) the decoder attends to the encoder and its
/// abstractor. Two contexts are used "in-turn" (one decoder block each a layer, encoder first:
/// decoder_blocks.{2i} and {2i+1}) or "concatenated" along the sequence. "none" has no abstractor:
/// the Transformer baseline, made of the same blocks.
struct Seq2SeqAbstractorImpl : SequenceModelImpl {
    explicit Seq2SeqAbstractorImpl(const Seq2SeqAbstractorOptions& options);
    /// The encoder's output and the last abstractor's.
    std::vector<torch::Tensor> encodeSource(const torch::Tensor& source) override;
    torch::Tensor decodeTarget(const torch::Tensor& target,
                               const std::vector<torch::Tensor>& contexts) override;

    SequenceEmbedder source_embedder{nullptr}, target_embedder{nullptr};
    torch::nn::ModuleList encoder_blocks, decoder_blocks;
    /// `abstractor`, and further ones of a chain as `abstractors.{1..}`.
    std::vector<Abstractor> chain;
    Linear final_out{nullptr};

private:
    /// Initialises the weights as the published framework does (experiments.md section 5).
    void initialise();

    Seq2SeqAbstractorOptions m_options;
    Dropout m_dropout{nullptr};
};

}  // namespace relascope::core
