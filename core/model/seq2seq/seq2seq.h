// SPDX-License-Identifier: GPL-3.0-or-later
// Sequence to sequence: encoder and decoder of dual attention or of plain blocks. DAT 4.2.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "model/attention/positions.h"
#include "model/attention/symbols.h"
#include "model/blocks/decoder.h"
#include "model/model.h"
#include "model/seq2seq/seq2seq_options.h"

namespace relascope::core {

/// Turns a sequence into vectors: an Embedding for tokens, a Linear with bias for vectors. Its
/// parameters are `weight` and, for vectors, `bias`.
struct SequenceEmbedderImpl : torch::nn::Module {
    SequenceEmbedderImpl(const std::string& type, std::int64_t size, std::int64_t d);
    /// Tokens [b, n] int64 or vectors [b, n, size] -> [b, n, d].
    torch::Tensor forward(const torch::Tensor& x) const;
    /// Throws OptionError unless x is a batch for forward() of at most `longest` elements.
    void check(const torch::Tensor& x, std::int64_t longest, const char* what) const;

    torch::Tensor weight, bias;

private:
    bool m_tokens;
    std::int64_t m_size;
};
TORCH_MODULE(SequenceEmbedder);

/// A model with separate encoding and decoding, so that decoding token by token encodes the source
/// once.
struct SequenceModelImpl : ModelImpl {
    /// source and target input -> logits [b, m, out_dim].
    torch::Tensor forward(const ModelInput& input) override {
        const auto contexts = encodeSource(input.x);
        return decodeTarget(input.target, contexts);
    }
    /// The context of the decoder: one or several tensors [b, n, d]. Throws OptionError for an
    /// invalid source.
    virtual std::vector<torch::Tensor> encodeSource(const torch::Tensor& source) = 0;
    /// target [b, m], with a DecodingCache the elements after past() -> logits [b, m, out_dim].
    virtual torch::Tensor decodeTarget(const torch::Tensor& target,
                                       const std::vector<torch::Tensor>& contexts) = 0;
};

/// Common base of the two models of DAT, under `layers.`.
struct Seq2SeqImpl : SequenceModelImpl {
    std::vector<torch::Tensor> encodeSource(const torch::Tensor& source) override;
    torch::Tensor decodeTarget(const torch::Tensor& target,
                               const std::vector<torch::Tensor>& contexts) override;

protected:
    explicit Seq2SeqImpl(const Seq2SeqTransformerOptions& options);
    virtual torch::Tensor encode(torch::Tensor x) = 0;
    virtual torch::Tensor decode(torch::Tensor y, const torch::Tensor& context) = 0;
    void finish();

    Seq2SeqTransformerOptions m_options;
    std::shared_ptr<torch::nn::Module> m_layers;  ///< registered as `layers`
    SequenceEmbedder m_source{nullptr}, m_target{nullptr};
    SinusoidalPositions m_sourcePositions{nullptr}, m_targetPositions{nullptr};
    torch::nn::ModuleList m_encoder, m_decoder;
    Linear m_out{nullptr};
};

struct Seq2SeqTransformerImpl : Seq2SeqImpl {
    explicit Seq2SeqTransformerImpl(const Seq2SeqTransformerOptions& options);

protected:
    torch::Tensor encode(torch::Tensor x) override;
    torch::Tensor decode(torch::Tensor y, const torch::Tensor& context) override;
};

/// One symbol retriever serves encoder and decoder, in every layer. (Published code builds
/// n_layers_enc decoder blocks; ours honours n_layers_dec.)
struct Seq2SeqDualAttnTransformerImpl : Seq2SeqImpl {
    explicit Seq2SeqDualAttnTransformerImpl(const Seq2SeqDualAttnTransformerOptions& options);

protected:
    torch::Tensor encode(torch::Tensor x) override;
    torch::Tensor decode(torch::Tensor y, const torch::Tensor& context) override;

private:
    std::shared_ptr<SymbolRetrieverImpl> m_retriever;
};

}  // namespace relascope::core
