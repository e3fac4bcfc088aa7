// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/attention.h"

#include <ATen/SDPBackend.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <array>

#include <cmath>
#include <limits>

#include "model/attention/block_attention.h"
#include "model/attention/chunked_attention.h"
#include "model/attention/cuda_attention.h"
#include "model/attention/inner_scale.h"
#include "model/attention/place_bias.h"
#include "model/attention/tiled_attention.h"
#include "model/blocks/module_span.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"
#include "types/error.h"

namespace relascope::core {
void HeadOptions::check() const {
    const auto text = [](std::int64_t n) { return std::to_string(n); };
    if (n_heads < 1) throw OptionError("n_heads", text(n_heads) + " heads; give at least one");
    if (head_dim < 1)
        throw OptionError("d_model", text(d_model) + " is too small for the number of heads");
    if (n_heads % kvHeads() != 0)
        throw OptionError("n_kv_heads",
                          text(kvHeads()) + " does not divide the " + text(n_heads) + " heads");
    if (const auto turned = rotary.dims(keyDim()); rope && (turned % 2 != 0 || turned > keyDim()))
        throw OptionError("key_dim", "rotary positions need an even width, not " + text(turned));
}

torch::Tensor splitHeads(const torch::Tensor& x, std::int64_t heads) {
    return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}
torch::Tensor joinHeads(const torch::Tensor& x) {
    return x.transpose(1, 2).flatten(2);
}

const char* attentionFormName(AttentionForm form) {
    static constexpr std::array names = {"automatic", "explicit", "factored", "chunked",
                                         "fused",     "tiled",    "cuda"};
    return names.at(static_cast<std::size_t>(form));
}

torch::Tensor futureMask(std::int64_t n, std::int64_t m, std::int64_t first,
                         const torch::Device& device, std::int64_t window, bool causal) {
    const auto all = torch::ones({n, m}, torch::TensorOptions().dtype(torch::kBool).device(device));
    const auto later = all.triu(first + (causal ? 1 : window));
    return window > 0 ? later.logical_or(all.tril(first - window)) : later;
}

torch::Tensor attentionScores(const torch::Tensor& q, const torch::Tensor& k,
                              const HeadOptions& options, std::int64_t first,
                              const Documents& documents) {
    const std::int64_t b = q.size(0), h = q.size(1), n = q.size(2), kv = k.size(1), m = k.size(2);
    // Query heads that share a key head are stacked as rows of one product.
    auto scores = torch::matmul(q.reshape({b, kv, h / kv * n, q.size(3)}) * options.scale(),
                                k.transpose(2, 3))
                      .view({b, h, n, m});
    if (options.distance != "none")
        scores = scores + distanceScores(options, n, m, first, scores.options());
    if (options.added.defined()) scores = scores + options.added.slice(1, first, first + n);
    if (const double cap = options.score_cap; cap > 0) scores = torch::tanh(scores / cap) * cap;
    // The last query may attend to every key of the window.
    if (options.windowed(m) || (options.causal && (n > 1 || documents)))
        scores = scores.masked_fill(
            closedCells(n, m, first, q.device(), options.window, documents, options.causal),
            -std::numeric_limits<double>::infinity());
    return scores;
}

double HeadOptions::scale() const {
    return score_scale > 0 ? score_scale : rsqrt(head_dim);
}

torch::Tensor distanceSlopes(std::int64_t heads) {
    std::int64_t power = 1;
    while (2 * power <= heads) power *= 2;
    std::vector<double> slopes;
    for (std::int64_t k = 0; k < heads; ++k) {
        const auto exponent = k < power ? -8.0 * static_cast<double>(k + 1)
                                        : -4.0 * static_cast<double>(2 * (k - power) + 1);
        slopes.push_back(std::exp2(exponent / static_cast<double>(power)));
    }
    return torch::tensor(slopes, torch::kDouble).to(torch::kFloat);
}

torch::Tensor distanceScores(const HeadOptions& options, std::int64_t n, std::int64_t m,
                             std::int64_t first, const torch::TensorOptions& like) {
    const auto slopes = distanceSlopes(options.n_heads).to(like.device()).view({-1, 1, 1});
    const auto j = torch::arange(m, like.dtype(torch::kLong));
    if (options.distance == "inside")
        return (slopes.to(torch::kBFloat16) * j).to(like) * options.scale();
    const auto i = torch::arange(first, first + n, j.options());
    return slopes.to(like) * (j - i.unsqueeze(1));
}

torch::Tensor attentionWeights(const torch::Tensor& q, const torch::Tensor& k,
                               const HeadOptions& options, std::int64_t first,
                               const Documents& documents) {
    const auto scores = attentionScores(q, k, options, first, documents);
    return documents.closesRows() ? softmaxOfOpen(scores) : softmaxOf(scores);
}

HookedWeights hookedWeights(const HookedModule& hooks, const torch::Tensor& q,
                            const torch::Tensor& k, const HeadOptions& options, std::int64_t first,
                            const Documents& documents) {
    torch::Tensor closed;
    if (options.causal || options.windowed(k.size(2)))
        closed = closedCells(q.size(2), k.size(2), first, q.device(), options.window, documents,
                             options.causal);
    const auto scores = hooks.cells("hook_attn_scores", axes::pattern,
                                    attentionScores(q, k, options, first, documents), first, closed,
                                    -std::numeric_limits<double>::infinity());
    return {scores,
            hooks.cells("hook_pattern", axes::pattern, softmaxOfOpen(scores), first, closed)};
}

bool takesWeights(const HookedModule& hooks) {
    return hooks.takes("hook_attn_scores") || hooks.takes("hook_pattern");
}

namespace {

// No kernel shares keys among heads in float32 on CUDA (pytorch#191085): there they are repeated.
bool sharesHeads(const torch::Tensor& q) {
    return q.is_cpu() || q.scalar_type() == torch::kBFloat16 || q.scalar_type() == torch::kHalf;
}
torch::Tensor forHeads(const torch::Tensor& q, const torch::Tensor& x) {
    if (sharesHeads(q) || x.size(1) == q.size(1)) return x;
    return x.repeat_interleave(q.size(1) / x.size(1), 1);
}
// How masked cells are passed to LibTorch's kernels: causal attention by a flag, a sliding window
// and documents by an explicit mask, distances by one of numbers.
struct FusedMask {
    std::optional<torch::Tensor> open;
    bool causal;
};
FusedMask fusedMask(const torch::Tensor& q, const torch::Tensor& k, const HeadOptions& o,
                    const Documents& documents) {
    const auto n = q.size(2), m = k.size(2);
    const bool plain = o.plainMap(m) && !documents;
    if (plain) return {std::nullopt, o.causal && n > 1};
    const bool closes = o.causal || o.windowed(m);
    const auto closed = closes ? closedCells(n, m, m - n, q.device(), o.window, documents, o.causal)
                               : torch::Tensor();
    if (o.distance == "none" && !o.added.defined()) return {closed.logical_not(), false};
    auto added = o.added.defined()
                     ? o.added.to(q.options())
                     : distanceScores(o, n, m, m - n, q.options()).expand({o.n_heads, n, m});
    if (closes) added = added.masked_fill(closed, -std::numeric_limits<double>::infinity());
    return {added.dim() == 3 ? added.unsqueeze(0) : added, false};
}

}  // namespace

bool hasFusedKernel(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                    const HeadOptions& options, const Documents& documents) {
    if (options.causal && q.size(2) != k.size(2) && q.size(2) != 1) return false;
    // A row without an open cell has no softmax there, and nothing can be done to its scores.
    if (documents.closesRows() || options.score_cap > 0) return false;
    const auto mask = fusedMask(q, k, options, documents);
    const auto choice =
        at::_fused_sdp_choice(q, forHeads(q, k), forHeads(q, v), mask.open, 0.0, mask.causal,
                              options.scale(), sharesHeads(q) && q.size(1) != k.size(1));
    return choice != static_cast<std::int64_t>(at::SDPBackend::math);
}

torch::Tensor fusedAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                             const HeadOptions& options, const Documents& documents) {
    const auto mask = fusedMask(q, k, options, documents);
    return torch::scaled_dot_product_attention(q, forHeads(q, k), forHeads(q, v), mask.open, 0.0,
                                               mask.causal, options.scale(),
                                               sharesHeads(q) && q.size(1) != k.size(1));
}

torch::Tensor mixValues(const torch::Tensor& alpha, const torch::Tensor& values) {
    const std::int64_t b = alpha.size(0), h = alpha.size(1), n = alpha.size(2), kv = values.size(1);
    return torch::matmul(alpha.reshape({b, kv, h / kv * n, alpha.size(3)}), values)
        .view({b, h, n, values.size(3)});
}

namespace {

// <q_i, k_j> / sqrt(head_dim) of every head: [b, n, m, h].
torch::Tensor innerProducts(const torch::Tensor& q, const torch::Tensor& k, const HeadOptions& o) {
    const auto keys = k.repeat_interleave(o.n_heads / o.kvHeads(), 1);
    return (torch::matmul(q, keys.transpose(2, 3)) * o.scale()).permute({0, 2, 3, 1});
}

}  // namespace

AttentionImpl::AttentionImpl(const HeadOptions& options)
    : m_options(options), m_rotary(options.rotary) {
    options.check();
    const auto& o = options;
    m_weightDropout = Dropout(o.dropout);
    if (!o.projects) return;
    wq = register_module("wq", Linear(o.d_model, o.n_heads * o.keyDim(), o.add_bias_q));
    wk = register_module("wk",
                         Linear(o.d_model, o.kvHeads() * o.keyDim(), o.add_bias_kv && o.key_bias));
    wv = register_module(
        "wv", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv && o.value_bias));
    wo = register_module("wo", Linear(o.width(), o.outWidth(), o.add_bias_out));
    if (o.hasQueryNorm()) {
        const auto norm = [&](const char* name, std::int64_t heads) {
            const bool whole = o.qk_norm == "all";
            return register_module(
                name, Norm(whole ? heads * o.keyDim() : o.keyDim(), o.qk_norm_type, o.norm_eps,
                           o.norm_plus_one, o.qk_norm == "heads" ? heads : 0));
        };
        q_norm = norm("q_norm", o.n_heads), k_norm = norm("k_norm", o.kvHeads());
    }
    if (o.hasOwnPlaces())
        place_bias = register_parameter("place_bias", newConstant({o.placeRows(), o.n_heads}, 0.0));
    register_module("attn_dropout", m_weightDropout);
    m_outputDropout = register_module("resid_dropout", Dropout(o.outputDropout()));
}

AttentionForm AttentionImpl::chosenForm(const torch::Tensor& q, const torch::Tensor& k,
                                        const torch::Tensor& v, const Documents& documents) const {
    // Blocks of rows are computed again in the backward pass, and would lose its gradient.
    const bool trainsPlaces = m_options.added.defined() && m_options.added.requires_grad();
    if (recordsMaps() || trainsPlaces) return AttentionForm::Explicit;
    const bool tiles = m_options.plainMap(k.size(2)) && !documents.closesRows() &&
                       servesTiles(q, k, m_options.causal);
    if (form == AttentionForm::Tiled) return tiles ? form : AttentionForm::Explicit;
    if (form == AttentionForm::Cuda) return AttentionForm::Explicit;  // not served
    if (form == AttentionForm::Automatic && tiles && q.size(2) > 1 &&
        prefersTiles(std::max(q.size(2), k.size(2)), q.size(0)))
        return AttentionForm::Tiled;
    const bool drops = weightDropout() > 0;
    if (form == AttentionForm::Automatic) {
        // For few tokens whole matrices are fastest. In training on CUDA they cost little for some
        // more, and add in a fixed order, which the backward pass of LibTorch's fused kernels does
        // not.
        const bool repeats = q.is_cuda() && q.scalar_type() == torch::kFloat &&
                             torch::GradMode::is_enabled() &&
                             !at::autocast::is_autocast_enabled(q.device().type());
        if (q.size(2) <= 32 || (repeats && std::max(q.size(2), k.size(2)) < 128) ||
            q.device().is_meta())
            return AttentionForm::Explicit;
        if (!drops && hasFusedKernel(q, k, v, m_options, documents)) return AttentionForm::Fused;
        return q.size(2) >= 512 && (!drops || q.is_cpu()) ? AttentionForm::Chunked
                                                          : AttentionForm::Explicit;
    }
    const bool continues = m_options.causal && q.size(2) != k.size(2) && q.size(2) > 1;
    const bool fused =
        !drops && !continues && !documents.closesRows() && m_options.score_cap == 0.0;
    return form == AttentionForm::Fused && !fused ? AttentionForm::Explicit : form;
}

KernelHeads AttentionImpl::kernelHeads() const {
    const auto& o = m_options;
    KernelHeads h;
    h.heads = o.n_heads, h.keyHeads = o.kvHeads(), h.keyDim = o.keyDim(), h.valueDim = o.head_dim;
    h.form = form;
    return h;
}

torch::Tensor AttentionImpl::normedHeads(Norm& norm, const torch::Tensor& x) const {
    if (norm.is_empty()) return x;
    if (m_options.qk_norm == "all") return splitHeads(norm(joinHeads(x)), x.size(1));
    return norm(x.transpose(1, 2)).transpose(1, 2);
}

torch::Tensor AttentionImpl::clipped(const torch::Tensor& x) const {
    const double most = m_options.clip_qkv;
    return most > 0 ? torch::clamp(x, -most, most) : x;
}

torch::Tensor AttentionImpl::explicitHeads(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v, std::int64_t past,
                                           const HookedModule& hooks, const Documents& documents) {
    return mixValues(m_weightDropout(explicitWeights(q, k, past, hooks, documents)), v);
}

void AttentionImpl::recordFactors(const torch::Tensor& q, const torch::Tensor& k,
                                  const HookedModule& hooks, const Documents& documents) {
    // Windows, documents, caps and distances are no part of the factors of a map.
    auto* recorder = factorRecorder();
    if (!recorder || takesWeights(hooks) || !m_options.plainMap(k.size(2)) || documents) return;
    recorder->scores(path, {q, k, m_options.scale(), "softmax", m_options.causal});
    if (m_options.relational) recorder->relations(path, {q, k, m_options.scale()});
}

torch::Tensor AttentionImpl::weights(const torch::Tensor& q, const torch::Tensor& k,
                                     std::int64_t past, const HookedModule& hooks) {
    recordFactors(q, k, hooks, {});
    return explicitWeights(q, k, past, hooks, {});
}

torch::Tensor AttentionImpl::explicitWeights(const torch::Tensor& q, const torch::Tensor& k,
                                             std::int64_t past, const HookedModule& hooks,
                                             const Documents& documents) {
    // Maps that a recorder cannot get as factors.
    const bool asMaps =
        activeRecorder() && (takesWeights(hooks) || !m_options.plainMap(k.size(2)) || documents);
    if (!hooks) {
        const auto alpha = attentionWeights(q, k, m_options, past, documents);  // [b, h, n, m]
        if (recordsMaps() || asMaps) {
            activeRecorder()->scores(path, alpha);
            if (m_options.relational)
                activeRecorder()->relations(path, innerProducts(q, k, m_options));
        }
        return alpha;
    }
    const auto [scores, alpha] = hookedWeights(hooks, q, k, m_options, past, documents);
    if (recordsMaps() || asMaps) {
        activeRecorder()->scores(path, alpha);
        if (m_options.relational) {
            // The relation of a closed cell is shown as well: it is closed for the softmax alone.
            const auto inner = scores.permute({0, 2, 3, 1});
            activeRecorder()->relations(
                path, torch::where(inner.isinf(), innerProducts(q, k, m_options), inner));
        }
    }
    return alpha;
}

torch::Tensor AttentionImpl::heads(const torch::Tensor& query, const torch::Tensor& key,
                                   const torch::Tensor& value) {
    const ModuleSpan span(*this);
    auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    const auto& o = m_options;
    const HookedModule hooks(hook, past);
    const bool own = key.is_same(query);
    if (o.hasPlaceBias()) m_options.added = placeScores(o, place_bias, shared_places);
    const Documents documents = o.causal && own ? activeDocuments() : Documents();
    // Layers that read the same tensor are applied together.
    std::vector<Linear> layers = {wq};
    if (own) layers.push_back(wk);
    if (own && value.is_same(query)) layers.push_back(wv);
    const auto projected = applyLinears(query, layers);
    auto q = hookedHeads(hooks, "hook_q", axes::heads,
                         splitHeads(projected[0], o.n_heads));  // [b, h, n, key_dim]
    if (cache && projected.size() > 2 && query.size(1) == 1 && !activeRecorder() && !hooks &&
        weightDropout() == 0 && o.rotary == RotaryOptions() && o.window == 0 && !documents &&
        o.plainScores() && !o.hasQueryNorm() && o.clip_qkv == 0.0 &&
        servesDecoding(query, kernelHeads(), cache->capacity())) {
        const auto k = splitHeads(projected[1], o.kvHeads()),
                   v = splitHeads(projected[2], o.kvHeads());
        DecodingBuffers buffers{cache->room(this, 0, k),
                                cache->room(this, 1, v),
                                {},
                                {},
                                cache->pastOn(query.device())};
        if (o.rope) buffers.rotary = m_rotary.table(cache->capacity(), k.size(3), k.device());
        return cudaDecoding({{q, k, v, -1, {}, 0}, {o.scale()}}, buffers);
    }
    const auto normed = [&](const HookedModule& at, const char* name, Norm& norm,
                            const torch::Tensor& x) {
        return clipped(norm.is_empty() ? x
                                       : hookedHeads(at, name, axes::heads, normedHeads(norm, x)));
    };
    q = normed(hooks, "hook_q_normed", q_norm, q);
    const auto rotated = [&](const char* name, const torch::Tensor& x) {
        return o.rope ? hookedHeads(hooks, name, axes::heads, m_rotary.rotate(x, past)) : x;
    };
    q = rotated("hook_rot_q", q);
    // The objects of cross-attention have positions of their own.
    const HookedModule others(hook, own ? past : 0);
    const auto keys = [&] {
        const auto k = hookedHeads(others, "hook_k", axes::heads,
                                   splitHeads(own ? projected[1] : wk(key), o.kvHeads()));
        return rotated("hook_rot_k", normed(others, "hook_k_normed", k_norm, k));
    };
    const auto values = [&] {  // [b, h_kv, m, d_h]
        return hookedHeads(
            others, "hook_v", axes::heads,
            clipped(splitHeads(projected.size() > 2 ? projected[2] : wv(value), o.kvHeads())));
    };
    const auto k = cache ? cache->appendOrStatic(this, 0, own, keys) : keys();
    const auto v = cache ? cache->appendOrStatic(this, 1, own, values) : values();
    return attend(q, k, v, past, hooks, documents);
}

torch::Tensor AttentionImpl::attend(const torch::Tensor& q, const torch::Tensor& k,
                                    const torch::Tensor& v, std::int64_t past,
                                    const HookedModule& hooks, const Documents& documents) {
    const auto& o = m_options;
    // Our kernels have the causal mask alone.
    const bool windowed = !o.plainMap(k.size(2)) || documents;
    recordFactors(q, k, hooks, documents);
    const CudaAttentionInput call{q, k, v, -1, {}, past};
    const KernelOptions options{o.scale(), o.causal, weightDropout()};
    // Heads without own projections are no more than a part of a module, which has the point.
    const auto joined = [&](const torch::Tensor& h) {
        return o.projects ? hookedJoined(hooks, "hook_z", h, o.n_heads) : h;
    };
    if (takesWeights(hooks) || (windowed && activeRecorder()))
        return joined(joinHeads(explicitHeads(q, k, v, past, hooks, documents)));
    if (!recordsMaps() && !windowed && choosesCuda(form, call, options))
        return joined(cudaAttention(call, options));
    torch::Tensor e;  // [b, h, n, d_h]
    switch (chosenForm(q, k, v, documents)) {
        case AttentionForm::Tiled:
            if (servesBlockAttention(q, k, v, o.causal))
                return joined(blockAttention(q, k, v, options, documents));
            return joined(tiledAttention(q, k, v, -1, {}, options, documents));
        case AttentionForm::Fused:
            e = fusedAttention(q, k, v, o, documents);
            break;
        case AttentionForm::Chunked: {
            const double p = weightDropout();
            const std::int64_t seed = p > 0 ? drawDropoutSeed() : 0, n = q.size(2), m = k.size(2);
            using Part = ChunkInput::Part;
            e = attendInChunks(
                n, kChunkRows, o.causal && past == 0,
                {{q, Part::Rows, 2}, {k, Part::Columns, 2}, {v, Part::Columns, 2}},
                [options = o, p, seed, n, m, past, documents](const auto& in, std::int64_t first) {
                    const auto alpha =
                        attentionWeights(in[0], in[1], options, past + first, documents);
                    return std::vector{mixValues(dropoutRows(alpha, p, seed, first, n, m), in[2])};
                })[0];
            break;
        }
        default:
            e = explicitHeads(q, k, v, past, hooks, documents);
    }
    return joined(joinHeads(e));  // [b, n, h * d_h]
}

}  // namespace relascope::core
