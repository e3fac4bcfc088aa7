// SPDX-License-Identifier: GPL-3.0-or-later
// Sequence to sequence with Abstractors between encoder and decoder: architectures (a) to (d) of
// ABS section 3.3, chains of Abstractors, and the ablation.
#include <torch/nn/init.h>
#include <torch/nn/modules/container/moduledict.h>
#include <torch/utils.h>

#include "model/abstractor/abstractor.h"
#include "model/decode/cache.h"
#include "model/factory.h"
#include "model/seq2seq/seq2seq.h"

namespace relascope::core {
namespace {

/// (a) abstractor, decoder. (b) encoder, abstractor, decoder. (c) the decoder attends to the
/// encoder and an abstractor of the input. (d) the decoder attends to the encoder and its
/// abstractor. Two contexts are used "in-turn" (one decoder block each a layer, encoder first:
/// decoder_blocks.{2i} and {2i+1}) or "concatenated" along the sequence. "none" has no abstractor:
/// the Transformer baseline, made of the same blocks.
struct Seq2SeqAbstractorImpl : SequenceModelImpl {
    using Options = Seq2SeqAbstractorOptions;
    explicit Seq2SeqAbstractorImpl(const Options& o) : m_options(o) {
        using Block = AbstractorBlockImpl;
        source_embedder = register_module("source_embedder",
                                          SequenceEmbedder(o.input_type, o.input_size, o.d_model));
        target_embedder = register_module(
            "target_embedder", SequenceEmbedder(o.output_type, o.output_size, o.d_model));
        m_dropout = register_module("dropout", Dropout(o.dropout_rate));

        Block::Parts parts;
        parts.self = {o.d_model, o.n_heads_sa, o.keyDim(), o.dropout_rate};
        parts.middle = parts.self;
        parts.dff = o.dff;
        for (std::int64_t i = 0; i < o.n_layers_enc; ++i)
            encoder_blocks->push_back(AbstractorBlock(parts));
        register_module("encoder_blocks", encoder_blocks);

        if (o.abstracts())
            chain.push_back(
                register_module("abstractor", Abstractor(o, o.in_block_size, o.longest())));
        if (o.abstracts() && o.n_abstractors > 1) {
            auto further = register_module("abstractors", torch::nn::ModuleDict());
            for (std::int64_t i = 1; i < o.n_abstractors; ++i) {
                chain.emplace_back(o, o.in_block_size, o.longest());
                further->update({{std::to_string(i), chain.back().ptr()}});
            }
        }
        parts.kind = Block::Middle::Cross;
        parts.self.causal = true;
        for (std::int64_t i = 0; i < o.n_layers_dec * (o.inTurn() ? 2 : 1); ++i)
            decoder_blocks->push_back(AbstractorBlock(parts));
        register_module("decoder_blocks", decoder_blocks);
        final_out = register_module("final_out", Linear(o.d_model, o.out_dim));
        initialise();
    }

    /// The encoder's output and the last abstractor's.
    std::vector<torch::Tensor> encodeSource(const torch::Tensor& source) override {
        source_embedder->check(source, m_options.in_block_size, "source");
        const auto objects = m_dropout(
            m_sourcePositions.addedTo(embedded("encoder", source_embedder(source))));  // [b, n, d]
        auto encoded = objects;
        for (const auto& block : *encoder_blocks)
            encoded = block->as<AbstractorBlockImpl>()->forward(encoded, {});
        auto abstract = m_options.abstractor_architecture == "c" ? objects : encoded;
        for (auto& abstractor : chain) abstract = abstractor(abstract);  // [b, n, d]
        const bool concatenated = m_options.twoContexts() && !m_options.inTurn();
        return {encoded, concatenated ? torch::cat({encoded, abstract}, 1) : abstract};
    }

    torch::Tensor decodeTarget(const torch::Tensor& target,
                               const std::vector<torch::Tensor>& contexts) override {
        auto* cache = activeCache();
        const std::int64_t past = cache ? cache->past() : 0;
        target_embedder->check(target, m_options.out_block_size - past, "target");
        auto y = m_dropout(m_targetPositions.addedTo(
            embedded("decoder", target_embedder(target), past), past));  // [b, m, d]
        std::size_t index = 0;
        for (const auto& block : *decoder_blocks) {
            const auto& context = contexts[m_options.inTurn() && index % 2 == 0 ? 0 : 1];
            y = block->as<AbstractorBlockImpl>()->forward(y, context);
            ++index;
        }
        if (cache) cache->advance(target.size(1));
        return hookedLogits(final_out(y), past);  // [b, m, out_dim]
    }

    SequenceEmbedder source_embedder{nullptr}, target_embedder{nullptr};
    torch::nn::ModuleList encoder_blocks, decoder_blocks;
    /// `abstractor`, and further ones of a chain as `abstractors.{1..}`.
    std::vector<Abstractor> chain;
    Linear final_out{nullptr};

private:
    static torch::Tensor embedded(const char* stack, const torch::Tensor& x,
                                  std::int64_t first = 0) {
        return HookedModule(stack, first)("hook_embed", axes::stream, x);
    }
    /// Initialises the weights as the published framework does (experiments.md section 5).
    void initialise() {
        if (parameterFill() != ParameterFill::Fresh) return;
        const torch::NoGradGuard noGrad;
        for (auto* embedder : {&source_embedder, &target_embedder}) {
            auto& weight = (*embedder)->weight;
            if ((*embedder)->bias.defined()) {
                torch::nn::init::xavier_uniform_(weight);
                (*embedder)->bias.zero_();
            } else {
                weight.uniform_(-0.05, 0.05);
            }
        }
        initGlorot(*this);
    }

    Options m_options;
    HalvedPositions m_sourcePositions, m_targetPositions;
    Dropout m_dropout{nullptr};
};

const auto model = RegisterModel::of<Seq2SeqAbstractorImpl>("Seq2SeqAbstractor");

}  // namespace
}  // namespace relascope::core
