// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/abstractor/seq2seq_abstractor.h"

#include <torch/nn/init.h>

#include <cmath>

#include "model/decode/cache.h"
#include "model/factory.h"

namespace relascope::core {
Seq2SeqAbstractorImpl::Seq2SeqAbstractorImpl(const Seq2SeqAbstractorOptions& options)
    : m_options(options) {
    const auto& o = options;
    using Block = AbstractorBlockImpl;
    source_embedder =
        register_module("source_embedder", SequenceEmbedder(o.input_type, o.input_size, o.d_model));
    target_embedder = register_module("target_embedder",
                                      SequenceEmbedder(o.output_type, o.output_size, o.d_model));
    m_dropout = register_module("dropout", Dropout(o.dropout_rate));

    Block::Parts parts;
    parts.self = {o.d_model, o.n_heads_sa, o.keyDim(), o.dropout_rate};
    parts.middle = parts.self;
    parts.dff = o.dff;
    for (std::int64_t i = 0; i < o.n_layers_enc; ++i)
        encoder_blocks->push_back(AbstractorBlock(parts));
    register_module("encoder_blocks", encoder_blocks);

    if (o.abstracts())
        chain.push_back(register_module("abstractor", Abstractor(o, o.in_block_size, o.longest())));
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

void Seq2SeqAbstractorImpl::initialise() {
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

std::vector<torch::Tensor> Seq2SeqAbstractorImpl::encodeSource(const torch::Tensor& source) {
    source_embedder->check(source, m_options.in_block_size, "source");
    const auto objects = m_dropout(withHalvedPositions(source_embedder(source)));  // [b, n, d]
    auto encoded = objects;
    for (const auto& block : *encoder_blocks)
        encoded = block->as<AbstractorBlockImpl>()->forward(encoded, {});
    auto abstract = m_options.abstractor_architecture == "c" ? objects : encoded;
    for (auto& abstractor : chain) abstract = abstractor(abstract);  // [b, n, d]
    const bool concatenated = m_options.twoContexts() && !m_options.inTurn();
    return {encoded, concatenated ? torch::cat({encoded, abstract}, 1) : abstract};
}

torch::Tensor Seq2SeqAbstractorImpl::decodeTarget(const torch::Tensor& target,
                                                  const std::vector<torch::Tensor>& contexts) {
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    target_embedder->check(target, m_options.out_block_size - past, "target");
    auto y = m_dropout(withHalvedPositions(target_embedder(target), past));  // [b, m, d]
    std::size_t index = 0;
    for (const auto& block : *decoder_blocks) {
        const auto& context = contexts[m_options.inTurn() && index % 2 == 0 ? 0 : 1];
        y = block->as<AbstractorBlockImpl>()->forward(y, context);
        ++index;
    }
    if (cache) cache->advance(target.size(1));
    return final_out(y);  // [b, m, out_dim]
}

namespace {

const auto model =
    RegisterModel::of<Seq2SeqAbstractorImpl, Seq2SeqAbstractorOptions>("Seq2SeqAbstractor");

}  // namespace
}  // namespace relascope::core
