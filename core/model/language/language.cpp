// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/language/language.h"

#include <torch/utils.h>

#include <cmath>

#include "model/decode/cache.h"
#include "model/model.h"
#include "model/public/public_options.h"

namespace relascope::core {
namespace {

// The symbol library of a retriever, if it has one, for sharing between layers.
void tieLibrary(SymbolRetrieverImpl& retriever, SymbolRetrieverImpl& first) {
    if (auto* own = dynamic_cast<SymbolicAttentionImpl*>(&retriever))
        own->shareLibrary(dynamic_cast<SymbolicAttentionImpl&>(first));
    if (auto* own = dynamic_cast<PositionalSymbolsImpl*>(&retriever))
        own->shareLibrary(dynamic_cast<PositionalSymbolsImpl&>(first));
}

}  // namespace

void requireTokens(const torch::Tensor& ids, std::int64_t vocabulary, std::int64_t longest,
                   const char* what) {
    if (ids.dim() != 2 || ids.scalar_type() != torch::kLong)
        throw OptionError(what, "must be a batch of integers, one row per sequence");
    if (ids.size(1) < 1) throw OptionError(what, "are empty; give at least one token");
    if (ids.size(1) > longest)
        throw OptionError(what, std::to_string(ids.size(1)) + " tokens exceed the model's " +
                                    std::to_string(longest));
    // On a GPU an index out of range would make the device unusable; there the caller checks on the
    // host.
    if (!ids.is_cpu()) return;
    const auto [least, most] = torch::aminmax(ids);
    const auto low = least.item<std::int64_t>(), high = most.item<std::int64_t>();
    if (low < 0 || high >= vocabulary)
        throw OptionError(what, "token " + std::to_string(low < 0 ? low : high) +
                                    " is outside the vocabulary of " + std::to_string(vocabulary));
}

torch::Tensor uncappedScores(const OutputForm& form, const torch::Tensor& outputs,
                             std::int64_t vocabulary) {
    const auto y = outputs.size(-1) == vocabulary ? outputs : outputs.slice(-1, 0, vocabulary);
    return form.logit_scale == 1.0 ? y : y * form.logit_scale;
}

torch::Tensor cappedScores(const OutputForm& form, const torch::Tensor& y) {
    return form.soft_cap > 0 ? torch::tanh(y / form.soft_cap) * form.soft_cap : y;
}

torch::Tensor scoresOf(const OutputForm& form, const torch::Tensor& outputs,
                       std::int64_t vocabulary) {
    return cappedScores(form, uncappedScores(form, outputs, vocabulary));
}

LanguageModelImpl::LanguageModelImpl(const TransformerLMOptions& options, const StackOptions& stack,
                                     const Further& further)
    : m_options(options), m_stack(stack), m_further(further) {
    const auto width = further.ends.embed_width;
    m_layers = register_module("layers", std::make_shared<torch::nn::Module>());
    m_tokens = m_layers->register_module(
        "token_embedder", Embedding(options.vocab_size, width > 0 ? width : options.d_model));
    if (width > 0)
        m_projectIn =
            m_layers->register_module("project_in", Linear(width, options.d_model, false));
    m_blocks = torch::nn::ModuleList();
}

void LanguageModelImpl::finish() {
    const auto& o = m_options;
    const auto& ends = m_further.ends;
    const auto& details = m_stack.details;
    const auto norm = [&](const char* name, const std::string& type) {
        return m_layers->register_module(
            name, Norm(o.d_model, type, details.norm_eps, details.norm_plus_one));
    };
    if (ends.embed_norm) m_embedNorm = norm("embed_norm", o.norm_type);
    m_layers->register_module("blocks", m_blocks);
    m_norm = norm("norm", ends.final_norm ? o.norm_type : "none");
    if (ends.embed_width > 0)
        m_projectOut =
            m_layers->register_module("project_out", Linear(o.d_model, ends.embed_width, false));
    // Tied: one tensor under both names.
    const auto width = m_tokens->weight.size(1);
    m_out =
        m_further.tied ? Linear(m_tokens->weight) : Linear(width, o.vocab_size, ends.output_bias);
    if (m_further.tied && ends.output_bias)
        m_out->bias = m_out->register_parameter("bias", newConstant({o.vocab_size}, 0.0));
    m_layers->register_module("final_out", m_out);
    if (o.pos_enc_type == "pos_emb")
        m_positions = m_layers->register_module(
            "positional_embedder", Embedding(o.max_block_size + ends.position_offset, o.d_model));
    initialiseLanguageModel(*this, o.n_layers);
}

void initialiseLanguageModel(torch::nn::Module& model, std::int64_t layers) {
    if (parameterFill() != ParameterFill::Fresh) return;
    const torch::NoGradGuard noGrad;
    for (const auto& module : model.modules(false)) {
        if (auto* linear = module->as<LinearImpl>()) {
            linear->weight.normal_(0.0, 0.02);
            if (linear->bias.defined()) linear->bias.zero_();
        } else if (auto* embedding = module->as<EmbeddingImpl>()) {
            embedding->weight.normal_(0.0, 0.02);
        } else if (auto* relational = module->as<RelationalAttentionImpl>()) {
            relational->wr.normal_(0.0, 0.02);
        }
    }
    // The published code scales linear3 instead of linear2 when swiglu; linear2 adds to the
    // residual stream, so we scale that one.
    const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(layers));
    for (auto& item : model.named_parameters())
        if (item.key().ends_with("linear2.weight") || item.key().ends_with("wo.weight"))
            item.value().normal_(0.0, residual);
}

torch::Tensor LanguageModelImpl::forward(const ModelInput& input) {
    if (beforePass) beforePass();
    const auto& tokens = input.x;
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    requireTokens(tokens, m_options.vocab_size, m_options.max_block_size - past, "tokens");
    const HookedModule hooks("", past);
    const auto& ends = m_further.ends;
    auto x = m_tokens(tokens);
    if (!m_projectIn.is_empty()) x = m_projectIn(x);
    if (ends.embed_scale != 1.0) x = x * ends.embed_scale;
    x = hooks("hook_embed", axes::stream, x);  // [b, n, d]
    if (m_options.pos_enc_type == "pos_emb") {
        const auto table = m_positions->weight.slice(0, ends.position_offset);
        const auto rows =
            cache ? cache->tokenRows(table, tokens.size(1)) : table.slice(0, 0, tokens.size(1));
        x = x +
            (hooks ? hooks("hook_pos_embed", axes::stream, rows.unsqueeze(0).expand_as(x)) : rows);
    }
    if (!m_embedNorm.is_empty()) x = m_embedNorm(x);
    {
        auto read = tokens;
        if (cache && m_further.documents.closesCells())
            read = cache->append(this, kTokenSlot, tokens.unsqueeze(-1)).squeeze(-1);
        const DocumentScope documents(documentsOf(read, m_further.documents));
        x = decode(x);
    }
    if (cache) cache->advance(tokens.size(1));
    // A continuation and a probe need the scores of the next token alone.
    const bool last = cache || factorRecorder();
    if (last) x = x.slice(1, -1);
    const std::int64_t first = last ? past + tokens.size(1) - 1 : past;
    x = m_norm(x);
    if (ends.final_norm) x = HookedModule("ln_final", first)("hook_normalized", axes::stream, x);
    if (!m_projectOut.is_empty()) x = m_projectOut(x);
    return hookedLogits(scoresOf(m_further.form, m_out(x), m_options.vocab_size),
                        first);  // [b, n, vocab]
}

TransformerLMImpl::TransformerLMImpl(const PlainLMOptions& options)
    : LanguageModelImpl(options, stackOf(options)) {
    addBlocks();
}

TransformerLMImpl::TransformerLMImpl(const PublicDecoderOptions& options)
    : LanguageModelImpl(options, stackOf(options),
                        {options.tie_word_embeddings, options, options, options}) {
    addBlocks();
}

TransformerLMImpl::TransformerLMImpl(const PublicDecoderOptions& options, const StackOptions& stack)
    : LanguageModelImpl(options, stack, {options.tie_word_embeddings, options, options, options}) {
    addBlocks();
}

void TransformerLMImpl::addBlocks() {
    for (std::int64_t layer = 0; layer < m_options.n_layers; ++layer)
        m_blocks->push_back(EncoderBlock(m_stack.ofLayer(layer)));
    finish();
}

torch::Tensor TransformerLMImpl::decode(torch::Tensor x) {
    for (const auto& module : *m_blocks) {
        auto* block = module->as<EncoderBlockImpl>();
        const auto kept = keptStream(block->hook);
        x = kept.defined() ? kept
                           : throughBlock(
                                 [block, documents = activeDocuments()](const torch::Tensor& in) {
                                     const DocumentScope scope(documents);
                                     return block->forward(in);
                                 },
                                 x);
    }
    return x;
}

DualAttnTransformerLMImpl::DualAttnTransformerLMImpl(const DualAttnTransformerLMOptions& options)
    : LanguageModelImpl(options, stackOf(options)) {
    addBlocks(options, {});
}

DualAttnTransformerLMImpl::DualAttnTransformerLMImpl(const PublicDualDecoderOptions& options)
    : LanguageModelImpl(options, stackOf(options), {options.tie_word_embeddings, options}),
      m_normedSymbols(options.normed_symbols) {
    addBlocks(options, options);
}

void DualAttnTransformerLMImpl::addBlocks(const DualAttnTransformerLMOptions& options,
                                          const SymbolDetails& details) {
    auto list = m_layers->register_module("symbol_retrievers", torch::nn::ModuleList());
    for (std::int64_t layer = 0; layer < options.n_layers; ++layer) {
        if (layer == 0 || !options.shared_symbol_retriever) {
            m_retrievers.push_back(makeSymbolRetriever(options, options.d_model,
                                                       options.max_block_size, details,
                                                       m_stack.details.rope_theta));
            if (layer > 0 && options.weight_tie_symbol_library)
                tieLibrary(*m_retrievers.back(), *m_retrievers.front());
        } else {
            m_retrievers.push_back(m_retrievers.front());
        }
        list->push_back(m_retrievers.back());
        m_blocks->push_back(DualAttnEncoderBlock(m_stack));
    }
    finish();
}

torch::Tensor DualAttnTransformerLMImpl::decode(torch::Tensor x) {
    for (std::size_t layer = 0; layer < m_retrievers.size(); ++layer) {
        auto* block = m_blocks[layer]->as<DualAttnEncoderBlockImpl>();
        if (const auto kept = keptStream(block->hook); kept.defined()) {
            x = kept;
            continue;
        }
        x = throughBlock(
            [this, layer, block, documents = activeDocuments()](const torch::Tensor& in) {
                const DocumentScope scope(documents);  // also where the block is recomputed
                const auto symbolsOf = [&](const torch::Tensor& stream) {
                    return m_retrievers[layer]->retrieve(stream, static_cast<int>(layer),
                                                         block->hook);
                };
                if (m_normedSymbols) return block->forward(in, symbolsOf);
                return block->forward(in, m_options.n_heads_ra > 0 ? symbolsOf(in) : Symbols());
            },
            x);
    }
    return x;
}

namespace {

const auto dualLanguageModel =
    RegisterModel::of<DualAttnTransformerLMImpl, DualAttnTransformerLMOptions>(
        "DualAttnTransformerLM");
const auto plainLanguageModel =
    RegisterModel::of<TransformerLMImpl, PlainLMOptions>("TransformerLM");
const auto publicDecoder =
    RegisterModel::of<TransformerLMImpl, PublicDecoderOptions>(kPublicDecoder);
const auto publicDualDecoder =
    RegisterModel::of<DualAttnTransformerLMImpl, PublicDualDecoderOptions>(kPublicDualDecoder);

}  // namespace
}  // namespace relascope::core
