// SPDX-License-Identifier: GPL-3.0-or-later
// Language models: the Dual Attention Transformer's and the plain Transformer's. DAT 4.4.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "model/attention/symbols.h"
#include "model/blocks/dual_attention.h"
#include "model/language/language_options.h"
#include "model/model.h"

namespace relascope::core {

/// The common base of both language models, under `layers.`: embedding (tied to the output, or
/// not), positions, causal blocks, norm and output.
struct LanguageModelImpl : ModelImpl {
    /// tokens [b, n] int64 -> logits [b, n, vocab_size]. With a DecodingCache, these are the tokens
    /// after past(). With one, and while a recorder takes factors, only the last logits are
    /// computed: [b, 1, vocab_size].
    torch::Tensor forward(const ModelInput& tokens) override;

    /// The slot of a cache that holds the tokens that were read, where documents close cells.
    static constexpr int kTokenSlot = 0;

protected:
    friend class RowDecoder;  // runs the parts for one row

    /// What the options of public families say beside those of every language model.
    struct Further {
        bool tied = true;  ///< the output layer is the embedding
        DocumentOptions documents = {};
        EndDetails ends = {};
        OutputForm form = {0.0, 1};
    };
    LanguageModelImpl(const TransformerLMOptions& options, const StackOptions& stack,
                      const Further& further);
    LanguageModelImpl(const TransformerLMOptions& options, const StackOptions& stack)
        : LanguageModelImpl(options, stack, Further()) {}
    /// The stack of blocks, [b, n, d] -> [b, n, d].
    virtual torch::Tensor decode(torch::Tensor x) = 0;
    /// Registers the modules after the blocks and sets the published initial weights.
    void finish();

    TransformerLMOptions m_options;
    StackOptions m_stack;
    Further m_further;
    std::shared_ptr<torch::nn::Module> m_layers;  ///< registered as `layers`
    Embedding m_tokens{nullptr}, m_positions{nullptr};
    torch::nn::ModuleList m_blocks{nullptr};
    Norm m_norm{nullptr}, m_embedNorm{nullptr};          ///< m_embedNorm is null without
    Linear m_projectIn{nullptr}, m_projectOut{nullptr};  ///< null without
    Linear m_out{nullptr};
};

/// Outputs [..., rows] of an output layer as scores [..., vocabulary] before their cap.
torch::Tensor uncappedScores(const OutputForm& form, const torch::Tensor& outputs,
                             std::int64_t vocabulary);
/// Such scores with their cap.
torch::Tensor cappedScores(const OutputForm& form, const torch::Tensor& scores);
/// Both steps.
torch::Tensor scoresOf(const OutputForm& form, const torch::Tensor& outputs,
                       std::int64_t vocabulary);

struct PublicDecoderOptions;      // model/public/public_options.h
struct PublicDualDecoderOptions;  // model/public/public_options.h

struct TransformerLMImpl : LanguageModelImpl {
    explicit TransformerLMImpl(const PlainLMOptions& options);
    /// A decoder of a public family (model/public).
    explicit TransformerLMImpl(const PublicDecoderOptions& options);

protected:
    /// A decoder of a public family with other blocks.
    TransformerLMImpl(const PublicDecoderOptions& options, const StackOptions& stack);
    torch::Tensor decode(torch::Tensor x) override;

private:
    void addBlocks();
};

/// Symbols are retrieved in every layer, by one retriever for all layers or one for each, with or
/// without a common library (`symbol_retrievers.{i}`).
struct DualAttnTransformerLMImpl : LanguageModelImpl {
    explicit DualAttnTransformerLMImpl(const DualAttnTransformerLMOptions& options);
    /// A relational decoder of a public family.
    explicit DualAttnTransformerLMImpl(const PublicDualDecoderOptions& options);

protected:
    torch::Tensor decode(torch::Tensor x) override;

private:
    friend class RowDecoder;

    void addBlocks(const DualAttnTransformerLMOptions& options, const SymbolDetails& details);

    bool m_normedSymbols = false;
    std::vector<std::shared_ptr<SymbolRetrieverImpl>> m_retrievers;  ///< one a layer
};

/// Sets the published initial weights, unless they are to be loaded: N(0, 0.02), zero biases, N(0,
/// 0.02 / sqrt(2 layers)) for layers that add to the residual stream.
void initialiseLanguageModel(torch::nn::Module& model, std::int64_t layers);

/// Throws OptionError unless ids [b, n] int64 are within 0..vocabulary - 1 and n within 1..longest.
/// `what` names the sequence: "tokens", "source".
void requireTokens(const torch::Tensor& ids, std::int64_t vocabulary, std::int64_t longest,
                   const char* what);

}  // namespace relascope::core
