// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/seq2seq/seq2seq.h"

#include <cmath>

#include <torch/nn/functional.h>

#include "model/decode/cache.h"
#include "model/language/language.h"
#include "model/model.h"

namespace relascope::core {

SequenceEmbedderImpl::SequenceEmbedderImpl(const std::string& type, std::int64_t size,
                                           std::int64_t d)
    : m_tokens(type == "token"), m_size(size) {
    if (m_tokens) {
        weight = register_parameter("weight", newNormal({size, d}));
        return;
    }
    const Linear linear(size, d);
    weight = register_parameter("weight", linear->weight);
    bias = register_parameter("bias", linear->bias);
}

torch::Tensor SequenceEmbedderImpl::forward(const torch::Tensor& x) const {
    return m_tokens ? torch::embedding(weight, x)
                    : torch::nn::functional::linear(x, weight, bias);  // [b, n, d]
}

void SequenceEmbedderImpl::check(const torch::Tensor& x, std::int64_t longest,
                                 const char* what) const {
    if (!x.defined()) throw OptionError(what, "is missing; this model needs two sequences");
    if (m_tokens) return requireTokens(x, m_size, longest, what);
    if (x.dim() != 3 || x.size(2) != m_size || !x.is_floating_point())
        throw OptionError(what, "needs vectors of " + std::to_string(m_size) + " numbers");
    if (x.size(1) < 1 || x.size(1) > longest)
        throw OptionError(what, "has " + std::to_string(x.size(1)) +
                                    " elements; the model accepts 1 to " + std::to_string(longest));
}

Seq2SeqImpl::Seq2SeqImpl(const Seq2SeqTransformerOptions& options) : m_options(options) {
    const auto& o = options;
    m_layers = register_module("layers", std::make_shared<torch::nn::Module>());
    m_source = m_layers->register_module("source_embedder",
                                         SequenceEmbedder(o.input_type, o.input_size, o.d_model));
    m_target = m_layers->register_module("target_embedder",
                                         SequenceEmbedder(o.output_type, o.output_size, o.d_model));
    m_sourcePositions = m_layers->register_module("source_pos_embedder",
                                                  SinusoidalPositions(o.d_model, o.in_block_size));
    m_targetPositions = m_layers->register_module("target_pos_embedder",
                                                  SinusoidalPositions(o.d_model, o.out_block_size));
}

void Seq2SeqImpl::finish() {
    m_layers->register_module("encoder_blocks", m_encoder);
    m_layers->register_module("decoder_blocks", m_decoder);
    m_out = m_layers->register_module("final_out", Linear(m_options.d_model, m_options.out_dim));
    // The published `tie_weights` ties nothing: it registers the output layer a second time.
    if (m_options.tie_weights) m_target->register_module("weights", m_out);
}

namespace {

// Embedded elements with their positions added, at hook_embed and hook_pos_embed of a stack.
torch::Tensor placed(const char* stack, const torch::Tensor& embedded,
                     SinusoidalPositions& positions, std::int64_t first) {
    const HookedModule hooks(stack, first);
    const auto x = hooks("hook_embed", axes::stream, embedded);
    if (!hooks.takes("hook_pos_embed")) return positions(x, first);
    const auto rows = positions->pe.slice(0, first, first + x.size(1)).to(x.scalar_type());
    return x * std::sqrt(static_cast<double>(x.size(2))) +
           hooks("hook_pos_embed", axes::stream, rows.unsqueeze(0).expand_as(x));
}

}  // namespace

std::vector<torch::Tensor> Seq2SeqImpl::encodeSource(const torch::Tensor& source) {
    m_source->check(source, m_options.in_block_size, "source");
    const auto x = placed("encoder", m_source(source), m_sourcePositions, 0);
    return {encode(x)};  // [b, n, d]
}

torch::Tensor Seq2SeqImpl::decodeTarget(const torch::Tensor& target,
                                        const std::vector<torch::Tensor>& contexts) {
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    m_target->check(target, m_options.out_block_size - past, "target");
    const auto y =
        decode(placed("decoder", m_target(target), m_targetPositions, past), contexts[0]);
    if (cache) cache->advance(target.size(1));
    return hookedLogits(m_out(y), past);
}

Seq2SeqTransformerImpl::Seq2SeqTransformerImpl(const Seq2SeqTransformerOptions& o)
    : Seq2SeqImpl(o) {
    for (std::int64_t i = 0; i < o.n_layers_enc; ++i)
        m_encoder->push_back(EncoderBlock(encoderOf(o)));
    for (std::int64_t i = 0; i < o.n_layers_dec; ++i)
        m_decoder->push_back(DecoderBlock(decoderOf(o)));
    finish();
}

torch::Tensor Seq2SeqTransformerImpl::encode(torch::Tensor x) {
    for (const auto& module : *m_encoder) {
        auto* block = module->as<EncoderBlockImpl>();
        const auto kept = keptStream(block->hook);
        x = kept.defined() ? kept : block->forward(x);
    }
    return x;
}

torch::Tensor Seq2SeqTransformerImpl::decode(torch::Tensor y, const torch::Tensor& context) {
    for (const auto& module : *m_decoder) {
        auto* block = module->as<DecoderBlockImpl>();
        const auto kept = keptStream(block->hook);
        y = kept.defined() ? kept : block->forward(y, context);
    }
    return y;
}

Seq2SeqDualAttnTransformerImpl::Seq2SeqDualAttnTransformerImpl(
    const Seq2SeqDualAttnTransformerOptions& o)
    : Seq2SeqImpl(o) {
    m_retriever = m_layers->register_module("symbol_retriever",
                                            makeSymbolRetriever(o, o.d_model, o.longest()));
    for (std::int64_t i = 0; i < o.n_layers_enc; ++i)
        m_encoder->push_back(DualAttnEncoderBlock(encoderOf(o)));
    for (std::int64_t i = 0; i < o.n_layers_dec; ++i)
        m_decoder->push_back(DualAttnDecoderBlock(decoderOf(o)));
    finish();
}

torch::Tensor Seq2SeqDualAttnTransformerImpl::encode(torch::Tensor x) {
    int layer = 0;
    for (const auto& block : *m_encoder) {
        Symbols symbols;
        auto* dual = block->as<DualAttnEncoderBlockImpl>();
        const auto kept = keptStream(dual->hook);
        if (m_options.n_heads_ra > 0 && !kept.defined())
            symbols = m_retriever->retrieve(x, layer, dual->hook);
        x = kept.defined() ? kept : dual->forward(x, symbols);
        ++layer;
    }
    return x;
}

torch::Tensor Seq2SeqDualAttnTransformerImpl::decode(torch::Tensor y,
                                                     const torch::Tensor& context) {
    // Layer numbers of symbols in the decoder follow the encoder's.
    int layer = static_cast<int>(m_options.n_layers_enc);
    for (const auto& block : *m_decoder) {
        Symbols symbols;
        auto* dual = block->as<DualAttnDecoderBlockImpl>();
        // Without relational heads nothing reads the symbols, but their points are there.
        const auto kept = keptStream(dual->hook);
        const bool listed = activeHooks() && activeHooks()->takes(dual->hook + ".sym.");
        if ((m_options.decoder.n_heads_ra > 0 || listed) && !kept.defined())
            symbols = m_retriever->retrieve(y, layer, dual->hook);
        y = kept.defined() ? kept : dual->forward(y, context, symbols);
        ++layer;
    }
    return y;
}

namespace {

const auto dualSeq2Seq =
    RegisterModel::of<Seq2SeqDualAttnTransformerImpl, Seq2SeqDualAttnTransformerOptions>(
        "Seq2SeqDualAttnTransformer");
const auto plainSeq2Seq =
    RegisterModel::of<Seq2SeqTransformerImpl, Seq2SeqTransformerOptions>("Seq2SeqTransformer");

}  // namespace
}  // namespace relascope::core
