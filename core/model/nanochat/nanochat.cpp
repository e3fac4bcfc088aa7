// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/nanochat/nanochat.h"

#include <torch/utils.h>

#include "files/memory.h"
#include "model/blocks/module_span.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr const char* kPlainNorm = "rmsnorm_no_weight";
constexpr double kNormEps = 0x1p-23;  // epsilon of torch.nn.functional.rms_norm in float32

torch::Tensor rms(const torch::Tensor& x) {
    return x * torch::rsqrt(x.square().mean(-1, true) + kNormEps);
}

// The key and value heads that `heads` query heads from `head` on read.
struct KeyHeads {
    std::int64_t head, heads, group;
    bool shared;  // each is read by equally many

    KeyHeads(const NanochatOptions& o, std::int64_t head, std::int64_t heads)
        : head(head), heads(heads), group(o.heads() / o.kvHeads()) {
        shared =
            head / group == (head + heads - 1) / group || (head % group == 0 && heads % group == 0);
    }
    std::int64_t count() const {
        return shared ? (head + heads - 1) / group - head / group + 1 : heads;
    }
    // x [b, K, n, w] -> [b, count(), n, w].
    torch::Tensor of(const torch::Tensor& x) const {
        if (shared) return x.slice(1, head / group, head / group + count());
        return x.repeat_interleave(group, 1).slice(1, head, head + heads);
    }
};

HeadOptions headsOf(const NanochatOptions& o, std::int64_t layer, std::int64_t head,
                    std::int64_t heads) {
    HeadOptions h;
    h.d_model = o.d_model, h.n_heads = heads, h.head_dim = o.headDim();
    h.n_kv_heads = KeyHeads(o, head, heads).count();
    h.causal = true, h.window = o.window(layer), h.projects = false;
    return h;
}

RotaryOptions turnedAs() {
    RotaryOptions r;
    r.rotary_halves = r.rotary_backwards = r.rotary_rounded = true;
    return r;
}

// [b, maps, n, w] of heads -> one vector of width 1 for each of their dimensions, [b, maps w, n,
// 1].
torch::Tensor perDimension(const torch::Tensor& heads) {
    return heads.transpose(2, 3).flatten(1, 2).unsqueeze(3);
}
// As perDimension(), for joined heads [b, n, width].
torch::Tensor perDimensionOfJoined(const torch::Tensor& joined) {
    return joined.transpose(1, 2).unsqueeze(3);
}

// Whole relations of all heads are as many as the heads are wide: of a large model more than there
// is memory for.
void requireRoomFor(const std::string& module, const std::vector<std::int64_t>& shape) {
    std::uint64_t bytes = 2 * sizeof(float);  // and one copy
    for (const auto size : shape) bytes *= static_cast<std::uint64_t>(size);
    const auto available = availableMemory();
    if (available == 0 || bytes <= available) return;
    throw Error("the " + std::to_string(shape.back()) + " relations of " + module +
                ".hook_r take " + byteText(bytes) + " for this input, and " + byteText(available) +
                " are available; choose a shorter input, or edit " + module + ".hook_rel_q or " +
                module + ".hook_rel_k, which they are products of");
}

}  // namespace

NanochatAttentionImpl::NanochatAttentionImpl(const NanochatOptions& o, std::int64_t layer)
    : m_options(o), m_rotary(turnedAs()) {
    const auto d = o.d_model, width = o.headDim(), kv = o.kvHeads() * width;
    const auto linear = [this](const char* name, std::int64_t in, std::int64_t out) {
        return register_module(name, Linear(in, out, false));
    };
    wq = linear("wq", d, d), wk = linear("wk", d, kv), wv = linear("wv", d, kv);
    if (o.hadamard) wk_rel = linear("wk_rel", d, kv);
    if (o.n_heads_ra > 0) wq_rel = linear("wq_rel", d, o.hadamardRelations());
    wo = linear("wo", d, d);
    if (o.hasValueEmbedding(layer)) {
        const auto gate = [&](const char* name) {
            return linear(name, o.residual_gate_channels, o.kvHeads());
        };
        if (o.n_heads_sa > 0) value_gate = gate("value_gate");
        if (o.n_heads_ra > 0) rel_gate = gate("rel_gate");
    }
    if (o.n_heads_sa > 0)
        self_attention =
            register_module("self_attention", Attention(headsOf(o, layer, 0, o.n_heads_sa)));
    if (o.n_heads_ra > 0)
        relational_attention = register_module(
            "relational_attention", Attention(headsOf(o, layer, o.n_heads_sa, o.n_heads_ra)));
}

NanochatAttentionImpl::Rows NanochatAttentionImpl::rows(AttentionImpl& attention,
                                                        const HookedModule& hooks,
                                                        const torch::Tensor& q,
                                                        const torch::Tensor& k, std::int64_t past) {
    // Cosines and sines are rounded, so that lengths change: first turned, then normed.
    const auto turned = [&](const char* plain, const char* after, const torch::Tensor& x) {
        const auto at = hookedHeads(hooks, plain, axes::heads, x);
        return rms(hookedHeads(hooks, after, axes::heads, m_rotary.rotate(at, past)));
    };
    const auto keys = turned("hook_k", "hook_rot_k", k);
    auto* cache = activeCache();
    return {turned("hook_q", "hook_rot_q", q), cache ? cache->append(&attention, 0, keys) : keys};
}

torch::Tensor NanochatAttentionImpl::related(const HookedModule& hooks, const Rows& at,
                                             torch::Tensor qRel, torch::Tensor kRel,
                                             std::int64_t past) {
    auto& attention = *relational_attention;
    const auto heads = m_options.n_heads_ra, width = m_options.headDim();
    const auto n = qRel.size(1), relations = qRel.size(2);
    if (hooks.takes("hook_rel_q"))
        qRel = hooks("hook_rel_q", axes::relationVectors, qRel.unsqueeze(3)).squeeze(3);
    const auto ofEveryHead = [heads](const torch::Tensor& x) {
        return x.size(1) == heads ? x : x.repeat_interleave(heads / x.size(1), 1);
    };
    if (hooks.takes("hook_rel_k")) {
        const auto vectors = joinHeads(ofEveryHead(kRel)).unsqueeze(3);  // [b, n, relations, 1]
        kRel = splitHeads(hooks("hook_rel_k", axes::relationVectors, vectors).squeeze(3), heads);
    }
    if (auto* cache = activeCache()) kRel = cache->append(&attention, 1, kRel);
    bool whole = false;  // an edit needs r itself
    if (hooks.takes("hook_r")) {
        const auto factors =
            hooks.factors("hook_r", Axis::Relation, qRel.select(0, 0).select(0, 0));
        whole = !factors.defined() && hooks.takesValues();
        if (factors.defined()) qRel = qRel * factors;
        if (!factors.defined() && !whole)
            hooks.cells("hook_r", axes::relations,
                        torch::zeros({1}).expand({qRel.size(0), n, kRel.size(2), relations}), past);
    }
    torch::Tensor r;  // [b, n, m, relations]
    if (whole || recordsMaps()) {
        requireRoomFor(attention.hook, {qRel.size(0), n, kRel.size(2), relations});
        r = qRel.unsqueeze(2) * joinHeads(ofEveryHead(kRel)).unsqueeze(1);
        if (whole) r = hooks.cells("hook_r", axes::relations, r, past);
        if (activeRecorder()) activeRecorder()->relations(attention.path, r);
    } else if (auto* recorder = factorRecorder()) {
        recorder->relations(attention.path,
                            {perDimensionOfJoined(qRel), perDimension(ofEveryHead(kRel)), 1.0});
    }
    if (!whole) return qRel * attention.attend(at.q, at.k, kRel, past, hooks);
    const auto alpha = attention.weights(at.q, at.k, past, hooks);  // [b, h, n, m]
    const auto ofHeads = r.view({r.size(0), n, r.size(2), heads, width});
    return torch::einsum("bhij,bijhd->bihd", {alpha, ofHeads}).reshape({-1, n, relations});
}

torch::Tensor NanochatAttentionImpl::heads(const torch::Tensor& y,
                                           const torch::Tensor& valueEmbedding) {
    const ModuleSpan span(*this);
    const auto& o = m_options;
    const auto past = tokensBefore();
    const auto sensory = o.n_heads_sa, kv = o.kvHeads();
    std::vector<Linear> layers = {wq, wk};
    if (sensory > 0) layers.push_back(wv);
    if (o.n_heads_ra > 0) layers.insert(layers.end(), {wk_rel, wq_rel});
    const auto projected = applyLinears(y, layers);
    const auto q = splitHeads(projected[0], o.heads()), k = splitHeads(projected[1], kv);
    // Values of either kind, with their share of the value embedding: [b, K, n, head_dim].
    const auto withEmbedding = [&](const torch::Tensor& values, Linear& gate) {
        auto split = splitHeads(values, kv);
        if (!valueEmbedding.defined()) return split;
        const auto share = 2 * torch::sigmoid(gate(y.slice(2, 0, o.residual_gate_channels)));
        return split + share.transpose(1, 2).unsqueeze(3) * splitHeads(valueEmbedding, kv);
    };
    std::vector<torch::Tensor> z;
    if (sensory > 0) {
        auto& attention = *self_attention;
        const HookedModule hooks(attention.hook, past);
        const KeyHeads read(o, 0, sensory);
        const auto at = rows(attention, hooks, q.slice(1, 0, sensory), read.of(k), past);
        auto v = hookedHeads(hooks, "hook_v", axes::heads,
                             read.of(withEmbedding(projected[2], value_gate)));
        if (auto* cache = activeCache()) v = cache->append(&attention, 1, v);
        z.push_back(
            hookedJoined(hooks, "hook_z", attention.attend(at.q, at.k, v, past, hooks), sensory));
    }
    if (o.n_heads_ra > 0) {
        auto& attention = *relational_attention;
        const HookedModule hooks(attention.hook, past);
        const KeyHeads read(o, sensory, o.n_heads_ra);
        const auto at = rows(attention, hooks, q.slice(1, sensory), read.of(k), past);
        const auto& kRel = projected[projected.size() - 2];
        z.push_back(hookedJoined(
            hooks, "hook_z",
            related(hooks, at, projected.back(), read.of(withEmbedding(kRel, rel_gate)), past),
            o.n_heads_ra));
    }
    return z.size() == 1 ? z[0] : torch::cat(z, -1);
}

NanochatBlockImpl::NanochatBlockImpl(const NanochatOptions& o, std::int64_t layer) {
    norm1 = register_module("norm1", Norm(o.d_model, kPlainNorm, kNormEps));
    dual_attn = register_module("dual_attn", NanochatAttention(o, layer));
    norm2 = register_module("norm2", Norm(o.d_model, kPlainNorm, kNormEps));
    ff_block = register_module("ff_block", FeedForward(o.d_model, o.dff, o.activation, false));
}

torch::Tensor NanochatBlockImpl::forward(torch::Tensor x, const torch::Tensor& valueEmbedding) {
    const ModuleSpan span(*this);
    const HookedModule hooks(hook, tokensBefore());
    x = hooks("hook_resid_pre", axes::stream, x);
    const auto heads = dual_attn->heads(norm1(x), valueEmbedding);
    x = hooks("hook_resid_mid", axes::stream,
              x + hooks("hook_attn_out", axes::stream, dual_attn->wo(heads)));
    x = x + hooks("hook_mlp_out", axes::stream, ff_block(norm2(x)));
    x = hooks("hook_resid_post", axes::stream, x);
    if (auto* recorder = activeRecorder()) recorder->hidden(path, x);
    return x;
}

NanochatImpl::NanochatImpl(const NanochatOptions& options) : m_options(options) {
    const auto& o = options;
    auto layers = register_module("layers", std::make_shared<torch::nn::Module>());
    const auto lambdas = [&](const char* name, double value) {
        return layers->register_parameter(name, newConstant({o.n_layers}, value));
    };
    resid_lambdas = lambdas("resid_lambdas", 1.0), x0_lambdas = lambdas("x0_lambdas", 0.0);
    m_tokens = layers->register_module("token_embedder", Embedding(o.rows(), o.d_model));
    auto values = layers->register_module("value_embedders", std::make_shared<torch::nn::Module>());
    m_blocks = layers->register_module("blocks", torch::nn::ModuleList());
    for (std::int64_t layer = 0; layer < o.n_layers; ++layer) {
        m_values.emplace_back(nullptr);
        if (o.hasValueEmbedding(layer))
            m_values.back() = values->register_module(
                std::to_string(layer), Embedding(o.rows(), o.kvHeads() * o.headDim()));
        m_blocks->push_back(NanochatBlock(o, layer));
    }
    m_norm = layers->register_module("norm", Norm(o.d_model, kPlainNorm, kNormEps));
    m_out = layers->register_module("final_out", Linear(o.d_model, o.rows(), false));
    initialiseLanguageModel(*this, o.n_layers);
}

torch::Tensor NanochatImpl::forward(const ModelInput& input) {
    if (beforePass) beforePass();
    const auto& tokens = input.x;
    auto* cache = activeCache();
    const auto past = tokensBefore();
    requireTokens(tokens, m_options.vocab_size, m_options.max_block_size - past, "tokens");
    const auto x0 = HookedModule("", past)("hook_embed", axes::stream, rms(m_tokens(tokens)));
    auto x = x0;
    for (std::size_t layer = 0; layer < m_values.size(); ++layer) {
        auto* block = m_blocks[layer]->as<NanochatBlockImpl>();
        if (const auto kept = keptStream(block->hook); kept.defined()) {
            x = kept;
            continue;
        }
        const auto at = static_cast<std::int64_t>(layer);
        auto& values = m_values[layer];
        x = throughBlock(
            [block, &values, tokens](const torch::Tensor& in) {
                return block->forward(in, values.is_empty() ? torch::Tensor() : values(tokens));
            },
            resid_lambdas[at] * x + x0_lambdas[at] * x0);
    }
    if (cache) cache->advance(tokens.size(1));
    // A continuation and a probe need the scores of the next token alone.
    const bool last = cache || factorRecorder();
    if (last) x = x.slice(1, -1);
    const auto first = last ? past + tokens.size(1) - 1 : past;
    x = HookedModule("ln_final", first)("hook_normalized", axes::stream, m_norm(x));
    return hookedLogits(scoresOf(m_options, m_out(x), m_options.vocab_size), first);
}

namespace {

const auto nanochat = RegisterModel::of<NanochatImpl, NanochatOptions>(kNanochatDecoder);
const auto hadamard = RegisterModel::of<NanochatImpl, NanochatOptions>(kHadamardLM);

}  // namespace
}  // namespace relascope::core
