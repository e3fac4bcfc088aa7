#include "model/relational_attention.h"

#include <torch/nn/init.h>

#include <cmath>

#include "model/layers.h"
#include "types/error.h"

namespace relascope {
namespace {

// alpha [b, h, n, n] laid out by offset: cell (i, j - i + n - 1) of [b, h, n, 2n + 1], zero
// elsewhere. A row padded to 2n and read 2n + 1 wide moves one column to the left with each i.
torch::Tensor byOffset(const torch::Tensor& alpha) {
    const std::int64_t b = alpha.size(0), h = alpha.size(1), n = alpha.size(2);
    const auto flat = torch::constant_pad_nd(alpha, {0, n}).flatten(2);  // [b, h, 2n^2]
    return torch::constant_pad_nd(flat, {n - 1, 1}).view({b, h, n, 2 * n + 1});
}

}  // namespace

const char* relationFormName(RelationForm form) {
    switch (form) {
        case RelationForm::Automatic:
            return "automatic";
        case RelationForm::Explicit:
            return "explicit";
        case RelationForm::Factored:
            return "factored";
    }
    return "";
}

void RelationalOptions::check() const {
    HeadOptions::check();
    if (relations() * projDim() != width())
        throw OptionError("rel_proj_dim",
                          std::to_string(projDim()) + " x " + std::to_string(relations()) +
                              " relations is not the relational width " + std::to_string(width()));
}

RelationalHeadsImpl::RelationalHeadsImpl(const RelationalOptions& options) : m_options(options) {
    const auto& o = options;
    wv = register_module("wv", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
    wo = register_module("wo", Linear(o.width(), o.width(), o.add_bias_out));
    m_weightDropout = register_module("attn_dropout", Dropout(o.dropout));
    m_outputDropout = register_module("resid_dropout", Dropout(o.outputDropout()));
}

torch::Tensor RelationalHeadsImpl::attendSymbols(const torch::Tensor& weights,
                                                 const Symbols& symbols) {
    const std::int64_t b = weights.size(0), h = weights.size(1), n = weights.size(2);
    const std::int64_t kv = m_options.kvHeads(), w = m_options.head_dim;
    const auto projected = wv(symbols.values);  // [b, n, kv * w], [n, kv * w] or the library's rows
    if (!symbols.relative()) {
        if (projected.dim() == 3) return mixValues(weights, splitHeads(projected, kv));
        return mixValues(weights, splitHeads(projected.unsqueeze(0), kv).expand({b, kv, n, w}));
    }
    const auto rows = projected.view({-1, kv, w});  // [2 max + 1, kv, w]
    if (symbols.maxOffset >= n - 1) {
        // Offsets -(n-1) .. n-1 and two columns of zeros: one product a head, nothing of size n x n
        // x w.
        const auto used = torch::constant_pad_nd(
            rows.slice(0, symbols.maxOffset - (n - 1), symbols.maxOffset + n),
            {0, 0, 0, 0, 0, 2});  // [2n + 1, kv, w]
        return mixValues(byOffset(weights),
                         used.transpose(0, 1).unsqueeze(0).expand({b, kv, 2 * n + 1, w}));
    }
    const auto s =
        rows.index_select(0, symbols.rows.flatten()).view({n, n, kv, w});  // [i, j, kv, w]
    const auto alpha = weights.view({b, kv, h / kv, n, n});
    return torch::einsum("bkgij,ijkw->bkgiw", {alpha, s}).reshape({b, h, n, w});
}

RelationalAttentionImpl::RelationalAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq_attn = register_module("wq_attn", Linear(o.d_model, o.n_heads * o.keyDim(), false));
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

RelationForm RelationalAttentionImpl::chosenForm(std::int64_t n) const {
    if (m_options.rel_activation != "identity") return RelationForm::Explicit;
    if (form != RelationForm::Automatic) return form;
    // Multiplications an (i, j) pair, forward: explicit D + h d_r (and an n x n x d_r tensor to
    // move), factored h D. Measured on the CPU: the explicit form wins for a handful of tokens
    // only.
    return n <= 16 ? RelationForm::Explicit : RelationForm::Factored;
}

torch::Tensor RelationalAttentionImpl::attendRelations(const torch::Tensor& alpha,
                                                       const torch::Tensor& r) {
    // Few pairs: one broadcast product is quicker than b * n tiny matrix products.
    if (alpha.size(1) * r.size(1) * alpha.size(2) <= 256)
        return (alpha.unsqueeze(2) * r.unsqueeze(1)).sum(-1).transpose(2, 3);  // [b, h, n, l]
    return torch::matmul(alpha.transpose(1, 2), r.permute({0, 2, 3, 1}))
        .transpose(1, 2);  // [b, h, n, l]
}

torch::Tensor RelationalAttentionImpl::attendFactored(const torch::Tensor& alpha,
                                                      const torch::Tensor& q,
                                                      const torch::Tensor& k) {
    const std::int64_t b = alpha.size(0), h = alpha.size(1), n = alpha.size(2);
    const std::int64_t l = m_options.relations(), p = m_options.projDim();
    const auto keys = torch::matmul(alpha.reshape({b, h * n, n}), k);  // [b, h * n, l * p]
    const auto products = keys.view({b, h, n, l, p}) * q.view({b, 1, n, l, p});
    return products.sum(-1) * (1.0 / std::sqrt(static_cast<double>(p)));  // [b, h, n, l]
}

torch::Tensor RelationalAttentionImpl::forward(const torch::Tensor& x, const Symbols& symbols) {
    const auto& o = m_options;
    auto q = splitHeads(wq_attn(x), o.n_heads);    // [b, h, n, key_dim]
    auto k = splitHeads(wk_attn(x), o.kvHeads());  // [b, h_kv, n, key_dim]
    if (o.rope) q = rotate(q), k = rotate(k);
    const auto weights = attentionWeights(q, k, o);  // [b, h, n, n]
    const auto alpha = m_weightDropout(weights);

    const auto q_rel = wq_rel(x);                             // [b, n, d_r * d_p]
    const auto k_rel = o.symmetric_rels ? q_rel : wk_rel(x);  // the same projection, made once
    auto* recorder = activeRecorder();
    const bool explicitForm = chosenForm(x.size(1)) == RelationForm::Explicit;
    torch::Tensor r;
    if (recorder || explicitForm) {
        const double scale = 1.0 / std::sqrt(static_cast<double>(o.projDim()));
        const auto inner = torch::matmul(splitHeads(q_rel, o.relations()),
                                         splitHeads(k_rel, o.relations()).transpose(2, 3));
        r = applyActivation(o.rel_activation, inner * scale);  // [b, d_r, n, n]
    }
    if (recorder) {
        recorder->scores(path, weights);
        recorder->relations(path, r.permute({0, 2, 3, 1}));
    }
    const auto related = explicitForm ? attendRelations(alpha, r)
                                      : attendFactored(alpha, q_rel, k_rel);  // [b, h, n, d_r]
    const auto a = torch::matmul(related, wr.transpose(1, 2)) +
                   attendSymbols(alpha, symbols);  // [b, h, n, d_h]
    return m_outputDropout(wo(joinHeads(a)));      // [b, n, h * d_h]
}

RelationalCrossAttentionImpl::RelationalCrossAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq = register_module("wq", Linear(o.d_model, o.n_heads * o.head_dim, false));
    wk = register_module("wk", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
}

torch::Tensor RelationalCrossAttentionImpl::forward(const torch::Tensor& x,
                                                    const Symbols& symbols) {
    const auto& o = m_options;
    auto q = splitHeads(wq(x), o.n_heads), k = splitHeads(wk(x), o.kvHeads());
    if (o.rope) q = rotate(q), k = rotate(k);
    torch::Tensor weights;  // [b, h, n, n]
    if (o.rca_activation == "softmax") {
        weights = attentionWeights(q, k, o);
    } else {
        const std::int64_t group = o.n_heads / o.kvHeads();
        const auto inner = torch::matmul(q, k.repeat_interleave(group, 1).transpose(2, 3)) /
                           std::sqrt(static_cast<double>(o.head_dim));
        weights = applyActivation(o.rca_activation, inner);
        if (o.causal) weights = weights.tril();
    }
    if (auto* recorder = activeRecorder()) recorder->scores(path, weights);
    const auto a = attendSymbols(m_weightDropout(weights), symbols);  // [b, h, n, d_h]
    return m_outputDropout(wo(joinHeads(a)));
}

DisentangledCrossAttentionImpl::DisentangledCrossAttentionImpl(const RelationalOptions& options)
    : RelationalHeadsImpl(options) {
    options.check();
    const auto& o = options;
    wq_attn = register_module("wq_attn", Linear(o.d_model, o.n_heads * o.head_dim, false));
    wk_attn =
        register_module("wk_attn", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
    wq_rel = register_module("wq_rel", Linear(o.d_model, o.n_heads * o.head_dim, false));
    wk_rel = register_module("wk_rel", Linear(o.d_model, o.kvHeads() * o.head_dim, o.add_bias_kv));
}

torch::Tensor DisentangledCrossAttentionImpl::forward(const torch::Tensor& x,
                                                      const Symbols& symbols) {
    const auto& o = m_options;
    const std::int64_t group = o.n_heads / o.kvHeads();
    auto q = splitHeads(wq_attn(x), o.n_heads), k = splitHeads(wk_attn(x), o.kvHeads());
    if (o.rope) q = rotate(q), k = rotate(k);
    const auto alpha = attentionWeights(q, k, o);  // [b, h, n, n]
    const auto k_rel = splitHeads(wk_rel(x), o.kvHeads()).repeat_interleave(group, 1);
    const auto inner = torch::matmul(splitHeads(wq_rel(x), o.n_heads), k_rel.transpose(2, 3));
    const auto r = applyActivation(
        o.rel_activation, inner / std::sqrt(static_cast<double>(o.head_dim)));  // [b, h, n, n]
    if (auto* recorder = activeRecorder()) {
        recorder->scores(path, alpha);
        recorder->relations(path, r);
    }
    const auto a = attendSymbols(m_weightDropout(alpha * r), symbols);  // [b, h, n, d_h]
    return m_outputDropout(wo(joinHeads(a)));
}

std::shared_ptr<RelationalHeadsImpl> makeRelationalHeads(const std::string& ra_type,
                                                         const RelationalOptions& options) {
    if (ra_type == "relational_attention")
        return std::make_shared<RelationalAttentionImpl>(options);
    if (ra_type == "rca") return std::make_shared<RelationalCrossAttentionImpl>(options);
    if (ra_type == "disrca") return std::make_shared<DisentangledCrossAttentionImpl>(options);
    throw OptionError("model.ra_type", "unknown relational attention '" + ra_type + "'");
}

}  // namespace relascope
