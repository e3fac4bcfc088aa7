#include "model/seq2seq_abstractor.h"

#include <torch/nn/init.h>

#include <cmath>

#include "model/cache.h"

namespace relascope {
namespace {

void uniform(torch::Tensor& t, double bound) {
    t.uniform_(-bound, bound);
}

}  // namespace

Seq2SeqAbstractorImpl::Seq2SeqAbstractorImpl(const ModelOptions& options) : m_options(options) {
    options.check();
    const auto& o = options;
    using Block = AbstractorBlockImpl;
    const auto& wiring = o.abstractor_architecture;
    m_twoContexts = wiring == "c" || wiring == "d";
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

    const bool abstracts = wiring != "none";
    if (abstracts) chain.push_back(register_module("abstractor", Abstractor(o)));
    if (abstracts && o.n_abstractors > 1) {
        auto further = register_module("abstractors", torch::nn::ModuleDict());
        for (std::int64_t i = 1; i < o.n_abstractors; ++i) {
            chain.emplace_back(o);
            further->update({{std::to_string(i), chain.back().ptr()}});
        }
    }
    parts.kind = Block::Middle::Cross;
    parts.self.causal = true;
    const bool inTurn = m_twoContexts && o.decoder_contexts == "in-turn";
    for (std::int64_t i = 0; i < o.n_layers_dec * (inTurn ? 2 : 1); ++i)
        decoder_blocks->push_back(AbstractorBlock(parts));
    register_module("decoder_blocks", decoder_blocks);
    final_out = register_module("final_out", Linear(o.d_model, o.out_dim));
    initialise();
}

void Seq2SeqAbstractorImpl::initialise() {
    if (parameterFill() != ParameterFill::Fresh) return;
    const torch::NoGradGuard noGrad;
    for (const auto& item : named_modules("", false)) {
        if (auto* linear = item.value()->as<LinearImpl>()) {
            torch::nn::init::xavier_uniform_(linear->weight);
            linear->bias.zero_();
        } else if (auto* embedder = item.value()->as<SequenceEmbedderImpl>()) {
            if (embedder->bias.defined()) {
                torch::nn::init::xavier_uniform_(embedder->weight);
                embedder->bias.zero_();
            } else {
                uniform(embedder->weight, 0.05);
            }
        }
    }
    // The published framework reckons the fans of a projection [d, heads, key] as d and heads by
    // (d + key), not as one matrix; with plain Glorot the simple model never learns.
    for (const auto& item : named_modules("", false)) {
        auto* attention = item.value()->as<AbstractorAttentionImpl>();
        if (!attention) continue;
        const auto d = static_cast<double>(attention->wo->weight.size(0));
        const auto width = static_cast<double>(attention->wo->weight.size(1));
        const double key = static_cast<double>(m_options.keyDim()), heads = width / key;
        for (auto* projection : {&attention->wq, &attention->wk, &attention->wv})
            uniform((*projection)->weight, std::sqrt(6.0 / (d * (heads + key))));
        uniform(attention->wo->weight, std::sqrt(6.0 / (heads * (key + d))));
    }
}

std::vector<torch::Tensor> Seq2SeqAbstractorImpl::encodeSource(const torch::Tensor& source) {
    source_embedder->check(source, m_options.in_block_size, "source");
    const auto objects = m_dropout(withHalvedPositions(source_embedder(source)));  // [b, n, d]
    auto encoded = objects;
    for (const auto& block : *encoder_blocks)
        encoded = block->as<AbstractorBlockImpl>()->forward(encoded, {});
    auto abstract = m_options.abstractor_architecture == "c" ? objects : encoded;
    for (auto& abstractor : chain) abstract = abstractor(abstract);  // [b, n, d]
    const bool concatenated = m_twoContexts && m_options.decoder_contexts == "concatenated";
    return {encoded, concatenated ? torch::cat({encoded, abstract}, 1) : abstract};
}

torch::Tensor Seq2SeqAbstractorImpl::decodeTarget(const torch::Tensor& target,
                                                  const std::vector<torch::Tensor>& contexts) {
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    target_embedder->check(target, m_options.out_block_size - past, "target");
    auto y = m_dropout(withHalvedPositions(target_embedder(target), past));  // [b, m, d]
    const bool inTurn = m_twoContexts && m_options.decoder_contexts != "concatenated";
    std::size_t index = 0;
    for (const auto& block : *decoder_blocks) {
        const auto& context = contexts[inTurn && index % 2 == 0 ? 0 : 1];
        y = block->as<AbstractorBlockImpl>()->forward(y, context);
        ++index;
    }
    if (cache) cache->advance(target.size(1));
    return final_out(y);  // [b, m, out_dim]
}

}  // namespace relascope
