// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/relational_attention.h"

#include <torch/nn/init.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "model/attention/chunked_attention.h"
#include "model/attention/cuda_attention.h"
#include "model/attention/inner_scale.h"
#include "model/attention/row_kernels.h"
#include "model/attention/tiled_attention.h"
#include "model/blocks/layers.h"
#include "model/blocks/module_span.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// weights [b, h, n, m] laid out by offset: cell (i, j - i + n - 1) of [b, h, n, m + n + 1], zero
// elsewhere. Padding rows to m + n and reading them with width m + n + 1 shifts row i by i columns
// to the left.
torch::Tensor byOffset(const torch::Tensor& weights) {
    const std::int64_t b = weights.size(0), h = weights.size(1), n = weights.size(2),
                       m = weights.size(3);
    const auto flat = torch::constant_pad_nd(weights, {0, n}).flatten(2);  // [b, h, n (m + n)]
    return torch::constant_pad_nd(flat, {n - 1, 1}).view({b, h, n, m + n + 1});
}

}  // namespace

torch::Tensor hookedRelationMaps(const HookedModule& hooks, const std::string& activation,
                                 const torch::Tensor& inner, std::int64_t first,
                                 const torch::Tensor& closed) {
    // Cells as the points have them, [b, n, m, l].
    const auto cells = [](const torch::Tensor& maps) { return maps.permute({0, 2, 3, 1}); };
    auto scores = inner;
    if (hooks)
        scores = hooks.cells("hook_rel_scores", axes::relations, cells(inner), first)
                     .permute({0, 3, 1, 2});
    if (!closed.defined()) {
        const auto r = applyActivation(activation, scores);
        return hooks ? hooks.cells("hook_r", axes::relations, cells(r), first).permute({0, 3, 1, 2})
                     : r;
    }
    const auto r = activateOpen(
        activation, scores.masked_fill(closed, -std::numeric_limits<double>::infinity()));
    if (!hooks) return r;
    const auto mask = closed.dim() == 4 ? cells(closed) : closed.unsqueeze(2);
    return hooks.cells("hook_r", axes::relations, cells(r), first, mask).permute({0, 3, 1, 2});
}

torch::Tensor mixSymbols(const torch::Tensor& weights, const ProjectedSymbols& symbols,
                         std::int64_t first) {
    if (symbols.maxOffset < 0) return mixValues(weights, symbols.values);
    const std::int64_t b = weights.size(0), n = weights.size(2), m = weights.size(3);
    const std::int64_t most = symbols.maxOffset;
    // Column c of the weights by offset is offset c + least. Offsets beyond the library use its
    // first or last row. No tensor of size n x m x d_h is created.
    const std::int64_t least = -(first + n - 1), highest = m - 1 - first;
    const std::int64_t low = std::max(least, -most), high = std::min(highest, most);
    auto columns = byOffset(weights).slice(3, 0, m + n - 1);
    auto rows = symbols.values.slice(1, low + most, high + most + 1);
    if (low > least || high < highest) {
        const auto below = columns.slice(3, 0, low - least).sum(3, true),
                   above = columns.slice(3, high - least + 1).sum(3, true);
        columns = torch::cat({below, columns.slice(3, low - least, high - least + 1), above}, 3);
        rows = torch::cat(
            {symbols.values.slice(1, 0, 1), rows, symbols.values.slice(1, 2 * most, 2 * most + 1)},
            1);
    }
    return mixValues(columns,
                     rows.unsqueeze(0).expand({b, rows.size(0), rows.size(1), rows.size(2)}));
}

void RelationalOptions::check() const {
    HeadOptions::check();
    if (rel_proj_dim == 0 && width() % relations() != 0)
        throw OptionError("n_relations",
                          std::to_string(relations()) + " does not divide the relational width " +
                              std::to_string(width()) + "; set rel_proj_dim to choose their width");
}

RelationalHeadsImpl::RelationalHeadsImpl(const RelationalOptions& options)
    : m_options(options), m_rotary(options.rotary) {
    const auto& o = options;
    wv = register_module("wv", Linear(o.symbolDim(), o.kvHeads() * o.head_dim, o.add_bias_kv));
    wo = register_module("wo", Linear(o.width(), o.width(), o.add_bias_out));
    m_outputDropout = register_module("resid_dropout", Dropout(o.outputDropout()));
}

AttentionForm RelationalHeadsImpl::chosenForm(std::int64_t n, const torch::Device& device,
                                              std::int64_t) const {
    if (form == AttentionForm::Cuda) return AttentionForm::Explicit;  // not served
    if (form != AttentionForm::Automatic) return form;
    return n >= (device.is_cpu() ? 256 : 1024) ? AttentionForm::Chunked : AttentionForm::Explicit;
}

torch::Tensor RelationalHeadsImpl::closedRelations(std::int64_t n, std::int64_t m,
                                                   std::int64_t first, const torch::Device& device,
                                                   const Documents& documents) const {
    if (!m_options.masked_relations || !m_options.causal) return {};
    return closedCells(n, m, first, device, 0, documents);
}

torch::Tensor RelationalHeadsImpl::byKernels(const CudaAttentionInput& input,
                                             const KernelOptions& options) {
    if (recordsMaps() || documents() || !choosesCuda(form, input, options)) return {};
    m_lastForm = "cuda, tensor cores";
    return cudaAttention(input, options);
}

std::optional<KernelHeads> RelationalHeadsImpl::kernelHeads(const Symbols&) const {
    return std::nullopt;
}

KernelCall RelationalHeadsImpl::projections(const torch::Tensor&, const Symbols&) {
    throw std::logic_error("heads that no kernel computes");
}

KernelCall RelationalHeadsImpl::kernelCall(const torch::Tensor& x, const Symbols& symbols) {
    auto call = projections(x, symbols);
    auto& in = call.in;
    auto& r = in.relations;
    auto* cache = activeCache();
    in.first = cache ? cache->past() : 0;
    const HookedModule hooks(hook, in.first);
    in.q = hookedHeads(hooks, "hook_q", axes::heads, in.q);
    in.k = hookedHeads(hooks, "hook_k", axes::heads, in.k);
    if (m_options.rope) {
        in.q = hookedHeads(hooks, "hook_rot_q", axes::heads, m_rotary.rotate(in.q, in.first));
        in.k = hookedHeads(hooks, "hook_rot_k", axes::heads, m_rotary.rotate(in.k, in.first));
    }
    if (in.maxOffset < 0) in.v = hookedHeads(hooks, "hook_s", axes::heads, in.v);
    if (hooks && r.q.defined()) {
        if (!r.k.defined()) r.k = r.q;
        r.q = hookedHeads(hooks, "hook_rel_q", axes::relationVectors, r.q);
        r.k = hookedHeads(hooks, "hook_rel_k", axes::relationVectors, r.k);
    }
    if (!cache) return call;
    if (in.maxOffset < 0) in.v = cache->append(this, 0, in.v);
    in.k = cache->append(this, 1, in.k);
    // Symmetric relations have more keys than queries now, so that these are other tensors.
    if (r.q.defined())
        r.k = splitHeads(cache->append(this, 2, joinHeads(r.k.defined() ? r.k : r.q)), r.q.size(1));
    return call;
}

torch::Tensor RelationalHeadsImpl::decoded(const torch::Tensor& x, const Symbols& symbols) {
    auto* cache = activeCache();
    if (!cache || x.size(1) != 1 || activeRecorder() || HookedModule(hook) || documents())
        return {};
    const auto heads = kernelHeads(symbols);
    if (!heads || weightDropout() > 0 || !servesDecoding(x, *heads, cache->capacity())) return {};
    const auto call = projections(x, symbols);
    const auto& in = call.in;
    DecodingBuffers buffers;
    if (in.maxOffset < 0) buffers.v = cache->room(this, 0, in.v);
    buffers.k = cache->room(this, 1, in.k);
    if (in.relations.q.defined())
        buffers.relations = cache->room(this, 2, joinHeads(in.relations.q));
    if (m_options.rope)
        buffers.rotary = m_rotary.table(cache->capacity(), in.k.size(3), x.device());
    buffers.past = cache->pastOn(x.device());
    return cudaDecoding(call, buffers);
}

KernelHeads RelationalHeadsImpl::sizes(const Symbols& symbols, std::int64_t keyDim) const {
    const auto& o = m_options;
    KernelHeads h;
    h.heads = o.n_heads, h.keyHeads = o.kvHeads(), h.keyDim = keyDim, h.valueDim = o.head_dim;
    h.maxOffset = symbols.maxOffset, h.form = form;
    return h;
}

AttentionForm RelationalHeadsImpl::formFor(const torch::Tensor& x) const {
    const auto chosen = chosenForm(x.size(1), x.device(), x.size(0));
    // A recorder needs the whole matrices; the result differs only by rounding.
    const bool whole = chosen == AttentionForm::Explicit || chosen == AttentionForm::Factored ||
                       chosen == AttentionForm::Tiled;
    if (recordsMaps()) return whole ? chosen : AttentionForm::Factored;
    // Blocks use the counter-based masks, which exist only on the CPU.
    if (chosen == AttentionForm::Chunked && weightDropout() > 0 && !x.is_cpu())
        return AttentionForm::Explicit;
    return chosen;
}

ProjectedSymbols RelationalHeadsImpl::projected(const Symbols& symbols, const torch::Tensor& x) {
    const std::int64_t kv = m_options.kvHeads();
    auto* cache = activeCache();
    constexpr int slot = 0;  // the first of this module's in a cache
    if (symbols.relative()) {
        const auto make = [&] {
            return wv(symbols.values).view({-1, kv, m_options.head_dim}).transpose(0, 1);
        };
        return {cache ? cache->makeStatic(this, slot, make) : make(), symbols.maxOffset};
    }
    auto values = wv(symbols.values);  // [b, n, kv * w], or [n, kv * w]
    if (values.dim() == 2)
        values = values.unsqueeze(0).expand({x.size(0), values.size(0), values.size(1)});
    return {splitHeads(values, kv), -1};  // [b, kv, n, w]
}

ProjectedSymbols RelationalHeadsImpl::project(const Symbols& symbols, const torch::Tensor& x) {
    auto s = projected(symbols, x);
    auto* cache = activeCache();
    if (s.maxOffset < 0)
        s.values = hookedHeads(HookedModule(hook, cache ? cache->past() : 0), "hook_s", axes::heads,
                               s.values);
    if (cache && s.maxOffset < 0) s.values = cache->append(this, 0, s.values);
    return s;
}

std::vector<torch::Tensor> RelationalHeadsImpl::overRows(const std::vector<torch::Tensor>& queries,
                                                         const std::vector<torch::Tensor>& keys,
                                                         const ProjectedSymbols& symbols,
                                                         bool blocks, bool allColumns,
                                                         const Rows& attend) {
    const auto* cache = activeCache();
    const std::int64_t past = cache ? cache->past() : 0;
    const std::int64_t n = queries[0].size(2), m = keys[0].size(2);
    const double p = weightDropout();
    if (!blocks)
        return attend(queries, keys, symbols, past,
                      [p](const torch::Tensor& weights) { return dropout(weights, p); });
    using Part = ChunkInput::Part;
    const std::int64_t seed = p > 0 ? drawDropoutSeed() : 0;
    const std::size_t queryCount = queries.size(), keyCount = keys.size();
    const bool relative = symbols.maxOffset >= 0;
    std::vector<ChunkInput> inputs;
    for (const auto& query : queries) inputs.push_back({query, Part::Rows, 2});
    for (const auto& key : keys) inputs.push_back({key, Part::Columns, 2});
    inputs.push_back({symbols.values, relative ? Part::Whole : Part::Columns, 2});
    return attendInChunks(
        n, kChunkRows, m_options.causal && past == 0 && !allColumns, inputs,
        [=, most = symbols.maxOffset](const std::vector<torch::Tensor>& in, std::int64_t first) {
            const auto begin = in.begin();
            const auto middle = begin + static_cast<std::ptrdiff_t>(queryCount);
            const auto drop = [=](const torch::Tensor& weights) {
                return dropoutRows(weights, p, seed, first, n, m);
            };
            return attend({begin, middle}, {middle, middle + static_cast<std::ptrdiff_t>(keyCount)},
                          {in.back(), most}, past + first, drop);
        });
}

RelationalAttentionImpl::RelationalAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq_attn = register_module("wq_attn", Linear(o.d_model, o.n_heads * o.keyDim(), o.add_bias_q));
    wk_attn =
        register_module("wk_attn", Linear(o.d_model, o.kvHeads() * o.keyDim(), o.add_bias_kv));
    wq_rel = register_module("wq_rel", Linear(o.d_model, o.relations() * o.projDim(), false));
    // Symmetric relations: wk_rel is a second name of wq_rel.
    wk_rel = register_module("wk_rel", o.symmetric_rels
                                           ? wq_rel
                                           : Linear(o.d_model, o.relations() * o.projDim(), false));
    wr = register_parameter(
        "wr", newParameter({o.n_heads, o.head_dim, o.relations()}, [](torch::Tensor& t) {
            torch::nn::init::kaiming_uniform_(t, std::sqrt(5.0));
        }));
}

AttentionForm RelationalAttentionImpl::chosenForm(std::int64_t n, const torch::Device& device,
                                                  std::int64_t batch) const {
    const bool identity = m_options.rel_activation == "identity";
    const bool tiled = device.is_cpu() && hasTiledActivation(m_options.rel_activation);
    if (form == AttentionForm::Tiled) return tiled ? form : AttentionForm::Explicit;
    if (form == AttentionForm::Cuda) return AttentionForm::Explicit;  // not served
    if (form != AttentionForm::Automatic)
        return identity || form == AttentionForm::Chunked ? form : AttentionForm::Explicit;
    return tiled && prefersTiles(n, batch) ? AttentionForm::Tiled : plainForm(n, device);
}

AttentionForm RelationalAttentionImpl::plainForm(std::int64_t n,
                                                 const torch::Device& device) const {
    const bool identity = m_options.rel_activation == "identity";
    // Multiplications for each pair (i, j) in the forward pass: explicit D + h d_r (and an n x n x
    // d_r tensor to move), factored h D. Measured on the CPU: explicit is faster for few tokens
    // only, blocks of rows when the scores exceed the cache.
    if (device.is_cuda() && identity && n >= 128) return AttentionForm::Fused;
    if (n >= (device.is_cpu() ? 256 : 1024)) return AttentionForm::Chunked;
    return wholeForm(n);
}

AttentionForm RelationalAttentionImpl::wholeOrChunked(std::int64_t n) const {
    // Training in blocks of rows keeps no d_r matrices for the backward pass; recorders and readers
    // of points take them whole.
    return n >= 256 && is_training() ? AttentionForm::Chunked : AttentionForm::Explicit;
}

AttentionForm RelationalAttentionImpl::wholeForm(std::int64_t n) const {
    const bool identity = m_options.rel_activation == "identity";
    if (n == 1 && activeCache() && identity) return AttentionForm::Factored;
    return n <= 16 || !identity ? AttentionForm::Explicit : AttentionForm::Factored;
}

torch::Tensor RelationalAttentionImpl::relationsOf(const HookedModule& hooks,
                                                   const torch::Tensor& q, const torch::Tensor& k,
                                                   std::int64_t first,
                                                   const torch::Tensor& closed) const {
    const auto inner = torch::matmul(q * rsqrt(q.size(3)), k.transpose(2, 3));
    return hookedRelationMaps(hooks, m_options.rel_activation, inner, first, closed);
}

torch::Tensor RelationalAttentionImpl::relatedTo(const torch::Tensor& q,
                                                 const torch::Tensor& keys) const {
    return contractKeys(keys, joinHeads(q), m_options.relations(), rsqrt(m_options.projDim()));
}

namespace {

// sum_j alpha_ij r_ij: alpha [b, h, n, m], r [b, l, n, m] -> [b, h, n, l].
torch::Tensor attendRelations(const torch::Tensor& alpha, const torch::Tensor& r) {
    // Few pairs: one broadcast product is faster than b * n small matrix products.
    if (alpha.size(1) * r.size(1) * alpha.size(2) <= 256)
        return (alpha.unsqueeze(2) * r.unsqueeze(1)).sum(-1).transpose(2, 3);
    return torch::matmul(alpha.transpose(1, 2), r.permute({0, 2, 3, 1})).transpose(1, 2);
}

// sum_j alpha_ij k_j of keys that all heads share: k [b, l, m, p] -> [b, h, n, l * p], one product.
torch::Tensor mixKeys(const torch::Tensor& alpha, const torch::Tensor& k) {
    const std::int64_t b = alpha.size(0), h = alpha.size(1), n = alpha.size(2), m = alpha.size(3);
    return torch::matmul(alpha.reshape({b, h * n, m}), joinHeads(k)).view({b, h, n, -1});
}

}  // namespace

std::vector<torch::Tensor> RelationalAttentionImpl::fused(const torch::Tensor& q,
                                                          const torch::Tensor& k,
                                                          const torch::Tensor& q_rel,
                                                          const torch::Tensor& k_rel,
                                                          const ProjectedSymbols& symbols) const {
    const auto& o = m_options;
    const std::int64_t kv = k.size(1), w = o.head_dim, width = o.relations() * o.projDim();
    auto shared = joinHeads(k_rel).unsqueeze(1);  // [b, 1, m, D]: one value for all heads
    shared = shared.expand({shared.size(0), kv, shared.size(2), width});
    // One pass over the scores if the kernel accepts values of any width, ...
    const auto together = torch::cat({shared, symbols.values}, 3);
    if (hasFusedKernel(q, k, together, o)) {
        const auto mixed = fusedAttention(q, k, together, o);
        return {relatedTo(q_rel, mixed.slice(3, 0, width).contiguous()), mixed.slice(3, width)};
    }
    // ... else one for each piece of the width of the keys, the last one padded with zeros.
    const std::int64_t missing = (w - width % w) % w;
    const auto whole = missing > 0 ? torch::constant_pad_nd(shared, {0, missing}) : shared;
    std::vector<torch::Tensor> keys;
    for (std::int64_t begin = 0; begin < width; begin += w)
        keys.push_back(fusedAttention(q, k, whole.slice(3, begin, begin + w), o));
    return {relatedTo(q_rel, torch::cat(keys, 3).slice(3, 0, width).contiguous()),
            fusedAttention(q, k, symbols.values, o)};
}

std::optional<KernelHeads> RelationalAttentionImpl::kernelHeads(const Symbols& symbols) const {
    const auto& o = m_options;
    auto h = sizes(symbols, o.keyDim());
    h.relations = o.relations(), h.relDim = o.projDim();
    h.relActivation = o.rel_activation;
    return h;
}

KernelCall RelationalAttentionImpl::projections(const torch::Tensor& x, const Symbols& symbols) {
    const auto& o = m_options;
    // Symmetric relations: the same projection, computed once.
    std::vector<Linear> layers = {wq_attn, wk_attn, wq_rel};
    if (!o.symmetric_rels) layers.push_back(wk_rel);
    const auto results = applyLinears(x, layers);
    const auto q = splitHeads(results[0], o.n_heads);    // [b, h, n, key_dim]
    const auto k = splitHeads(results[1], o.kvHeads());  // [b, h_kv, n, key_dim]
    KernelRelations relations{splitHeads(results[2], o.relations()), {}, wr};  // [b, d_r, n, d_p]
    if (!o.symmetric_rels) relations.k = splitHeads(results[3], o.relations());
    const auto s = projected(symbols, x);
    return {{q, k, s.values, s.maxOffset, relations, 0},
            {rsqrt(o.head_dim), o.causal, weightDropout(), rsqrt(o.projDim()), o.rel_activation}};
}

bool RelationalAttentionImpl::takesRelations(const HookedModule& hooks,
                                             torch::Tensor& q_rel) const {
    if (!hooks.takes("hook_rel_scores") && !hooks.takes("hook_r")) return false;
    if (m_options.rel_activation != "identity") return true;
    std::vector<torch::Tensor> factors;
    for (const char* point : {"hook_rel_scores", "hook_r"}) {
        if (!hooks.takes(point)) continue;
        factors.push_back(hooks.factors(point, Axis::Relation, q_rel.select(0, 0)));
        if (!factors.back().defined()) return true;
    }
    for (const auto& factor : factors) q_rel = q_rel * factor.view({1, -1, 1, 1});
    return false;
}

torch::Tensor RelationalAttentionImpl::heads(const torch::Tensor& x, const Symbols& symbols) {
    const ModuleSpan span(*this);
    const auto& o = m_options;
    if (const auto next = decoded(x, symbols); next.defined()) return next;
    auto call = kernelCall(x, symbols);
    auto& [input, options] = call;
    const HookedModule hooks(hook, input.first);
    if (hooks && !input.relations.k.defined()) input.relations.k = input.relations.q;
    const bool takesR = takesRelations(hooks, input.relations.q);
    const bool takesMaps = takesR || takesWeights(hooks);
    // Points of the heads' parts, which some kernels never have apart.
    const bool takesParts =
        hooks.takes("hook_attended_r") || hooks.takes("hook_z_rel") || hooks.takes("hook_z_sym");
    const auto joined = [&](const torch::Tensor& h) {
        return hookedJoined(hooks, "hook_z", h, o.n_heads);
    };
    const auto &q = input.q, &k = input.k, &q_rel = input.relations.q;
    const auto& k_rel = input.relations.k.defined() ? input.relations.k : q_rel;
    const ProjectedSymbols s{input.v, input.maxOffset};
    const std::int64_t past = input.first;

    // Maps that hooks have changed, or documents have closed, are no products of the factors.
    const auto documents = this->documents();
    const bool closes = activeRecorder() && documents;
    const bool recordsAlpha = recordsMaps() || closes || (activeRecorder() && takesWeights(hooks)),
               recordsR = recordsMaps() || closes || (activeRecorder() && takesR);
    if (auto* recorder = factorRecorder()) {
        if (!recordsAlpha) recorder->scores(path, {q, k, rsqrt(o.head_dim), "softmax", o.causal});
        if (!recordsR)
            recorder->relations(path, {q_rel, k_rel, rsqrt(o.projDim()), o.rel_activation,
                                       o.causal && o.masked_relations});
    }
    const bool needsParts = takesMaps || takesParts;
    if (!needsParts)
        if (const auto out = byKernels(input, options); out.defined()) return joined(out);
    auto chosen = takesMaps || closes ? wholeOrChunked(x.size(1)) : formFor(x);
    m_lastForm = attentionFormName(chosen);
    if (chosen == AttentionForm::Tiled) {
        if (servesTiles(q, k, o.causal) && !documents.closesRows() && past == 0 && !recordsMaps() &&
            !needsParts)
            return joined(
                tiledAttention(q, k, s.values, s.maxOffset, input.relations, options, documents));
        chosen = recordsMaps() ? wholeForm(x.size(1)) : plainForm(x.size(1), x.device());
    }
    // LibTorch's causal mask starts at the first key and ignores earlier tokens in the cache.
    const bool continues = o.causal && past > 0 && x.size(1) > 1;
    if (chosen == AttentionForm::Fused &&
        (s.maxOffset >= 0 || weightDropout() > 0 || continues || documents))
        chosen = AttentionForm::Factored;
    m_lastForm = attentionFormName(chosen);
    // Over all j, also later ones, unless relations are masked.
    const bool softmax = o.rel_activation == "softmax", overAll = softmax && !o.masked_relations;
    const auto attend = [this, chosen, softmax, hooks, takesR, recordsAlpha, recordsR, documents](
                            const auto& queries, const auto& keys, const ProjectedSymbols& symbols,
                            std::int64_t first, const auto& drop) -> std::vector<torch::Tensor> {
        const auto weights =
            takesWeights(hooks)
                ? hookedWeights(hooks, queries[0], keys[0], m_options, first, documents).alpha
                : attentionWeights(queries[0], keys[0], m_options, first, documents);
        const auto alpha = drop(weights);  // [b, h, n, m]
        const bool identity = m_options.rel_activation == "identity";
        const bool whole = chosen == AttentionForm::Explicit || !identity || takesR;
        torch::Tensor r, related;  // [b, d_r, n, m], [b, h, n, d_r]
        if (whole || recordsR) {
            // Weights of closed cells are 0, so that r matters there only where it is seen.
            torch::Tensor closed;
            if (softmax || takesR || recordsR)
                closed = closedRelations(queries[1].size(2), keys[1].size(2), first,
                                         queries[1].device(), documents);
            r = relationsOf(takesR ? hooks : HookedModule(), queries[1], keys[1], first, closed);
        }
        if (recordsAlpha) activeRecorder()->scores(path, weights);
        if (recordsR) activeRecorder()->relations(path, r.permute({0, 2, 3, 1}));
        related =
            whole ? attendRelations(alpha, r) : relatedTo(queries[1], mixKeys(alpha, keys[1]));
        return {related, mixSymbols(alpha, symbols, first)};
    };
    const auto parts = chosen == AttentionForm::Fused
                           ? fused(q, k, q_rel, k_rel, s)
                           : overRows({q, q_rel}, {k, k_rel}, s, chosen == AttentionForm::Chunked,
                                      overAll, attend);
    const auto related = hookedHeads(hooks, "hook_attended_r", axes::attended, parts[0]);
    const auto a =
        hookedHeads(hooks, "hook_z_rel", axes::heads, torch::matmul(related, wr.transpose(1, 2))) +
        hookedHeads(hooks, "hook_z_sym", axes::heads, parts[1]);  // [b, h, n, d_h]
    return joined(joinHeads(a));                                  // [b, n, h * d_h]
}

void initRelationsAsMay2024(torch::nn::Module& model) {
    const torch::NoGradGuard noGrad;
    for (const auto& item : model.named_modules("", false)) {
        auto* attention = item.value()->as<RelationalAttentionImpl>();
        if (!attention) continue;
        const double bound = rsqrt(attention->wr.size(2));
        attention->wr.uniform_(-bound, bound);
    }
}

std::shared_ptr<RelationalHeadsImpl> makeRelationalHeads(const std::string& ra_type,
                                                         const RelationalOptions& options) {
    if (ra_type == "relational_attention")
        return std::make_shared<RelationalAttentionImpl>(options);
    if (ra_type == "rca") return std::make_shared<RelationalCrossAttentionImpl>(options);
    if (ra_type == "disrca") return std::make_shared<DisentangledCrossAttentionImpl>(options);
    throw OptionError("model.ra_type", "unknown relational attention '" + ra_type + "'");
}

}  // namespace relascope::core
