// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/nn/init.h>
#include <torch/nn/modules/container/moduledict.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/utils.h>
#include <cmath>
#include <limits>

#include "model/abstractor/abstractor.h"
#include "model/abstractor/abstractor_options.h"
#include "model/attention/attention.h"
#include "model/attention/positions.h"
#include "model/attention/symbols.h"
#include "model/baselines/relational_baselines.h"
#include "model/blocks/dual_attention.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"
#include "model/model.h"
#include "model/seq2seq/seq2seq.h"
#include "model/vision/vision.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kNormEps = 1e-3;  // as in the framework the Abstractor was published in

}  // namespace

torch::Tensor HalvedPositions::rows(std::int64_t n, std::int64_t width,
                                    const torch::TensorOptions& options) {
    return m_table.get({n, width}, options, [&] { return halvedSinusoids(n, width); });
}

torch::Tensor HalvedPositions::addedTo(const torch::Tensor& x, std::int64_t first) {
    const auto pe = rows(first + x.size(-2), x.size(-1), x.options()).slice(0, first);
    return x * std::sqrt(static_cast<double>(x.size(-1))) + pe;
}

AbstractorAttentionImpl::AbstractorAttentionImpl(const AbstractorHeads& heads) : m_heads(heads) {
    const std::int64_t width = heads.n_heads * heads.key_dim;
    wq = register_module("wq", Linear(heads.d_model, width));
    wk = register_module("wk", heads.symmetric ? wq : Linear(heads.d_model, width));
    wv = register_module("wv", Linear(heads.d_model, width));
    wo = register_module("wo", Linear(width, heads.d_model));
    m_dropout = register_module("dropout", Dropout(heads.dropout));
}

torch::Tensor AbstractorAttentionImpl::forward(const torch::Tensor& query, const torch::Tensor& key,
                                               const torch::Tensor& value,
                                               const Symbols& relative) {
    const auto& o = m_heads;
    auto* cache = activeCache();
    const bool own = key.is_same(query);
    const std::int64_t past = tokensBefore();
    const HookedModule hooks(hook, past), others(hook, own ? past : 0);
    const auto project = [&](int slot, const char* name, Linear& linear, const torch::Tensor& x) {
        const auto heads = [&] {
            return hookedHeads(others, name, axes::heads, splitHeads(linear(x), o.n_heads));
        };
        return cache ? cache->appendOrStatic(this, slot, own, heads) : heads();
    };
    const auto queries =
        hookedHeads(hooks, "hook_q", axes::heads, splitHeads(wq(query), o.n_heads));
    const auto keys = project(0, "hook_k", wk, key),
               values = project(1, "hook_v", wv, value);  // [b, h, m, key_dim]
    const std::int64_t n = query.size(1), m = keys.size(2);
    const double scale = o.scaled ? 1.0 / std::sqrt(static_cast<double>(o.key_dim)) : 1.0;
    auto inner = torch::matmul(queries, keys.transpose(2, 3)) * scale;
    const auto open = inner;  // also of cells that the mask closes
    torch::Tensor hidden;     // [n, m], true where i may not attend to j
    const auto mask = torch::ones({n, m}, inner.options().dtype(torch::kBool));
    if (o.causal) hidden = mask.triu(1 + past);
    if (o.mask_diagonal)
        hidden = hidden.defined() ? hidden.logical_or(mask.tril(0).triu(0)) : mask.tril(0).triu(0);
    torch::Tensor alpha;
    const bool takesWeights = relascope::core::takesWeights(hooks);
    if (takesWeights) {
        constexpr double cut = -std::numeric_limits<double>::infinity();
        const bool masked = hidden.defined() && o.activation == "softmax";
        inner = hooks.cells("hook_attn_scores", axes::pattern,
                            masked ? inner.masked_fill(hidden, cut) : inner, past,
                            masked ? hidden : torch::Tensor(), cut);
        alpha = activateOpen(o.activation, inner);
    } else if (o.activation == "softmax") {
        // Finite, so that an object without any visible object gets zeros and not NaN.
        constexpr double never = -1e30;
        alpha = softmaxOf(hidden.defined() ? inner.masked_fill(hidden, never) : inner);
    } else {
        alpha = applyActivation(o.activation, inner);
    }
    if (hidden.defined()) alpha = alpha.masked_fill(hidden, 0.0);
    if (takesWeights) alpha = hooks.cells("hook_pattern", axes::pattern, alpha, past, hidden);
    if (auto* recorder = activeRecorder()) {
        recorder->relations(path, torch::where(inner.isinf(), open, inner).permute({0, 2, 3, 1}));
        recorder->scores(path, alpha);
    }
    alpha = m_dropout(alpha);
    auto out = torch::matmul(alpha, values);  // [b, h, n, key_dim]
    if (relative.relative()) {
        // wv is linear: the symbol's part of the value is added without its bias.
        const auto rows = torch::matmul(relative.values, wv->weight.t());  // [2 max + 1, h * key]
        const auto s =
            rows.index_select(0, offsetRows(n, relative.maxOffset, query.device()).flatten())
                .view({n, m, o.n_heads, o.key_dim});  // [i, j, h, key_dim]
        out = out + torch::einsum("bhij,ijhk->bhik", {alpha, s});
    }
    out = hookedHeads(hooks, "hook_z", axes::heads, out);
    return wo(joinHeads(out));  // [b, n, d]
}

void initGlorot(torch::nn::Module& model) {
    const torch::NoGradGuard noGrad;
    for (const auto& item : model.named_modules("", false)) {
        auto* linear = item.value()->as<LinearImpl>();
        if (!linear) continue;
        torch::nn::init::xavier_uniform_(linear->weight);
        if (linear->bias.defined()) linear->bias.zero_();
    }
    // The fans of a projection are those of d and heads * (d + key), not those of one matrix; with
    // plain Glorot initialisation the simple model does not learn.
    for (const auto& item : model.named_modules("", false)) {
        auto* attention = item.value()->as<AbstractorAttentionImpl>();
        if (!attention) continue;
        const auto d = static_cast<double>(attention->wo->weight.size(0)),
                   width = static_cast<double>(attention->wo->weight.size(1)),
                   key = static_cast<double>(attention->keyDim()), heads = width / key;
        const double in = std::sqrt(6.0 / (d * (heads + key)));
        for (auto* projection : {&attention->wq, &attention->wk, &attention->wv})
            (*projection)->weight.uniform_(-in, in);
        const double out = std::sqrt(6.0 / (heads * (key + d)));
        attention->wo->weight.uniform_(-out, out);
    }
}

AbstractorBlockImpl::AbstractorBlockImpl(const Parts& parts) : m_parts(parts) {
    const std::int64_t d = parts.self.d_model;
    if (parts.hasSelf) {
        self_attn = register_module("self_attn", AbstractorAttention(parts.self));
        norm1 = register_module("norm1", Norm(d, parts.norm, kNormEps));
    }
    if (parts.kind != Middle::None) {
        middle = register_module(parts.kind == Middle::Relational ? "rca" : "cross_attn",
                                 AbstractorAttention(parts.middle));
        norm2 = register_module("norm2", Norm(d, parts.norm, kNormEps));
    }
    if (parts.hasFeedForward) {
        ff_block = register_module("ff_block", FeedForward(d, parts.dff, "relu", true));
        norm3 = register_module("norm3", Norm(d, parts.norm, kNormEps));
    }
    m_dropout = register_module("dropout", Dropout(parts.self.dropout));
}

torch::Tensor AbstractorBlockImpl::forward(torch::Tensor a, const torch::Tensor& x,
                                           const Symbols& relative) {
    const bool first = m_parts.normFirst;
    const HookedModule hooks(hook, tokensBefore());
    const auto point = [&](const char* name, const torch::Tensor& value) {
        return hooks(name, axes::stream, value);
    };
    a = point("hook_resid_pre", a);
    if (m_parts.hasSelf) {
        const auto y = first ? norm1(a) : a;
        a = a + point("hook_attn_out", self_attn(y, y, y));
        if (!first) a = norm1(a);
        a = point("hook_resid_mid", a);
    }
    if (m_parts.kind != Middle::None) {
        const auto y = first ? norm2(a) : a;
        const auto out =
            point("hook_cross_attn_out",
                  m_parts.kind == Middle::Relational ? middle(x, x, y, relative) : middle(y, x, x));
        const auto& kept = m_parts.residual == "objects" ? x : a;
        a = m_parts.residual == "none" ? out : kept + out;
        if (!first) a = norm2(a);
        a = point("hook_resid_mid_cross", a);
    }
    if (m_parts.hasFeedForward) {
        const auto y = m_dropout(point("hook_mlp_out", ff_block(first ? norm3(a) : a)));
        a = m_parts.residual == "none" ? y : a + y;
        if (!first) a = norm3(a);
    }
    a = point("hook_resid_post", a);
    if (auto* recorder = activeRecorder()) recorder->hidden(path, a);
    return a;
}

AbstractorImpl::AbstractorImpl(const AbstractorOptions& o, std::int64_t objects,
                               std::int64_t longest)
    : m_options(o) {
    if (o.symbol_retrieval == "learned")
        symbols = register_parameter("symbols", newNormal({objects, o.d_model}));
    else if (o.symbol_retrieval != "sinusoidal")
        symbol_retriever =
            register_module("symbol_retriever", makeSymbolRetriever(o, o.d_model, longest));
    AbstractorBlockImpl::Parts parts;
    parts.self = {o.d_model, o.heads(), o.keyDim(), o.dropout_rate};
    parts.middle = parts.self;
    parts.hasSelf = o.use_self_attn;
    parts.hasFeedForward = o.abs_feed_forward;
    parts.kind =
        o.relational ? AbstractorBlockImpl::Middle::Relational : AbstractorBlockImpl::Middle::Cross;
    if (o.relational) {
        parts.middle.activation = o.rca_activation;
        parts.middle.scaled = o.rca_scaled;
        parts.middle.mask_diagonal = o.mask_diagonal;
        parts.middle.symmetric = o.symmetric_rels;
    }
    parts.dff = o.feedForward();
    parts.norm = o.abs_norm;
    parts.normFirst = o.abs_norm_first;
    parts.residual = o.abs_residual;
    for (std::int64_t layer = 0; layer < o.n_layers_abs; ++layer)
        layers->push_back(AbstractorBlock(parts));
    register_module("layers", layers);
}

torch::Tensor AbstractorImpl::forward(const torch::Tensor& x) {
    const std::int64_t n = x.size(1);
    torch::Tensor a;   // [n, d] or [b, n, d]
    Symbols relative;  // symbols of offsets: they are added to every message, and A starts at zero
    if (symbols.defined()) {
        if (n > symbols.size(0))
            throw OptionError("source", std::to_string(n) + " objects, but only " +
                                            std::to_string(symbols.size(0)) + " learned symbols");
        a = symbols.slice(0, 0, n);
    } else if (!symbol_retriever) {
        a = m_positions.rows(n, m_options.d_model, x.options());
    } else {
        auto retrieved = symbol_retriever->retrieve(x, 0, hook);
        if (retrieved.relative()) {
            relative = std::move(retrieved);
            a = torch::zeros({n, m_options.d_model}, x.options());
        } else {
            a = retrieved.values;
        }
    }
    if (m_options.symbol_positions) a = m_positions.addedTo(a);
    if (a.dim() == 2) a = a.unsqueeze(0).expand({x.size(0), n, m_options.d_model});
    a = HookedModule(hook)("hook_symbols", axes::stream, a);
    for (const auto& layer : *layers) a = layer->as<AbstractorBlockImpl>()->forward(a, x, relative);
    return a;
}

namespace {

// The Abstractor of the sorting models on a set of objects: learns a relation on pairs, for
// initialising a sorting model (ABS 4.4).

/// embedder, Abstractor (the same module, under the same names, as in Seq2SeqAbstractor),
/// flattened, one hidden relu layer, outputs.
struct ObjectAbstractorImpl : ModelWith<ObjectAbstractorOptions> {
    explicit ObjectAbstractorImpl(const Options& o) : ModelWith(o) {
        source_embedder =
            register_module("source_embedder", SequenceEmbedder("vector", o.object_dim, o.d_model));
        abstractor = register_module("abstractor", Abstractor(o, o.n_objects, o.n_objects));
        hidden = register_module("hidden", Linear(o.n_objects * o.d_model, o.hidden));
        final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
    }
    torch::Tensor outputs(const torch::Tensor& objects) override {
        // With positions (x sqrt(d) + pe), as in the sorting models.
        const auto x = m_positions.addedTo(
            HookedModule("")("hook_embed", axes::stream, source_embedder(objects)));  // [b, n, d]
        const auto a = abstractor(x);                                                 // [b, n, d]
        return final_out(torch::relu(hidden(a.flatten(1))));  // [b, out_dim]
    }

    SequenceEmbedder source_embedder{nullptr};
    Abstractor abstractor{nullptr};
    Linear hidden{nullptr}, final_out{nullptr};

private:
    HalvedPositions m_positions;
};

const auto objectModel = RegisterModel::of<ObjectAbstractorImpl>("ObjectAbstractor", initGlorot);

// Sequence to sequence with Abstractors between encoder and decoder: architectures (a) to (d) of
// ABS section 3.3, chains of Abstractors, and the variant without relations.

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

const auto seq2seqModel = RegisterModel::of<Seq2SeqAbstractorImpl>("Seq2SeqAbstractor");

// The Abstractor for images of DAT's Relational Games, with the residual stream of the objects.

/// A <- A + SA(norm1 A);  A <- x + RCA(norm1 x, A);  A <- A + FF(norm2 A). Post-norm: each sum is
/// normalised instead. The second line adds the objects, so that sensory information is passed on
/// (models.md section 5).
struct ImageAbstractorLayerImpl : torch::nn::Module, RecordingPoint {
    explicit ImageAbstractorLayerImpl(const ImageAbstractorOptions& o) : m_normFirst(o.norm_first) {
        HeadOptions heads;
        heads.d_model = o.d_model;
        heads.n_heads = o.n_heads_sa;
        heads.head_dim = o.d_model / o.n_heads_sa;
        heads.dropout = o.dropout_rate;
        heads.output_dropout = twiceDropped(o.dropout_rate);
        heads.add_bias_out = true;
        if (o.use_self_attn) self_attn = register_module("self_attn", Attention(heads));
        norm1 = register_module("norm1", Norm(o.d_model, "layernorm"));
        heads.relational = true;
        rel_attn = register_module("rel_attn", Attention(heads));
        norm2 = register_module("norm2", Norm(o.d_model, "layernorm"));
        ff_block = register_module("ff_block", FeedForward(o.d_model, o.dff, o.activation, true));
        m_dropout = register_module("dropout", Dropout(o.dropout_rate));
    }
    torch::Tensor forward(torch::Tensor a, const torch::Tensor& x) {
        const HookedModule hooks(hook);
        const auto point = [&](const char* name, const torch::Tensor& value) {
            return hooks(name, axes::stream, value);
        };
        const auto fed = [&](const torch::Tensor& y) {
            return m_dropout(point("hook_mlp_out", ff_block(y)));
        };
        a = point("hook_resid_pre", a);
        if (!self_attn.is_empty()) {
            const auto y = m_normFirst ? norm1(a) : a;
            a = a + hookedOutput(hooks, "hook_attn_out", self_attn, self_attn->heads(y, y, y));
            if (!m_normFirst) a = norm1(a);
            a = point("hook_resid_mid", a);
        }
        const auto objects = m_normFirst ? norm1(x) : x;
        a = x + hookedOutput(hooks, "hook_cross_attn_out", rel_attn,
                             rel_attn->heads(objects, objects, a));
        if (!m_normFirst) a = norm1(a);
        a = point("hook_resid_mid_cross", a);
        a = m_normFirst ? a + fed(norm2(a)) : norm2(a + fed(a));
        a = point("hook_resid_post", a);
        if (auto* recorder = activeRecorder()) recorder->hidden(path, a);
        return a;
    }

    Attention self_attn{nullptr}, rel_attn{nullptr};
    Norm norm1{nullptr}, norm2{nullptr};
    FeedForward ff_block{nullptr};

private:
    bool m_normFirst;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(ImageAbstractorLayer);

/// `AbstractorModel`: patches, Abstractor, mean, MLP.
struct ImageAbstractorImpl : ModelWith<ImageAbstractorOptions> {
    explicit ImageAbstractorImpl(const Options& o) : ModelWith(o) {
        m_patches = register_module("patch_embedder", PatchEmbedding(o, o.d_model));
        auto abstractor = register_module("abstractor", std::make_shared<torch::nn::Module>());
        m_retriever = abstractor->register_module("symbol_retriever",
                                                  makeSymbolRetriever(o, o.d_model, o.patches()));
        for (std::int64_t layer = 0; layer < o.n_layers; ++layer)
            m_abstractorLayers->push_back(ImageAbstractorLayer(o));
        abstractor->register_module("abstractor_layers", m_abstractorLayers);
        m_predictor = register_module(
            "mlp_predictor", Mlp(std::vector<std::int64_t>{o.d_model, o.d_model, o.num_classes}));
    }
    torch::Tensor outputs(const torch::Tensor& images) override {
        const auto x =
            HookedModule("")("hook_embed", axes::stream, m_patches(images));  // [b, n, d]
        auto a = m_retriever->retrieve(x, 0, "abstractor").values;            // [n, d] or [b, n, d]
        if (a.dim() == 2) a = a.unsqueeze(0).expand_as(x);
        a = HookedModule("abstractor")("hook_symbols", axes::stream, a);
        for (const auto& layer : *m_abstractorLayers)
            a = layer->as<ImageAbstractorLayerImpl>()->forward(a, x);
        return m_predictor(a.mean(1));  // [b, classes]
    }

private:
    PatchEmbedding m_patches{nullptr};
    std::shared_ptr<SymbolRetrieverImpl> m_retriever;
    torch::nn::ModuleList m_abstractorLayers;
    Mlp m_predictor{nullptr};
};

const auto imageModel = RegisterModel::of<ImageAbstractorImpl>("AbstractorModel");

}  // namespace
}  // namespace relascope::core
