// Relational attention and its two ablations: heads that mix how the other objects relate.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>
#include <string>

#include "model/attention.h"
#include "model/symbols.h"
#include "types/model_options.h"

namespace relascope {

struct RelationalOptions : HeadOptions {
    std::int64_t n_relations = 0;   ///< d_r [n_heads]
    std::int64_t rel_proj_dim = 0;  ///< d_p [head_dim * n_heads / n_relations]
    std::string rel_activation = "identity";
    bool symmetric_rels = false;
    std::string rca_activation = "softmax";

    std::int64_t relations() const { return n_relations > 0 ? n_relations : n_heads; }
    std::int64_t projDim() const { return rel_proj_dim > 0 ? rel_proj_dim : width() / relations(); }
    void check() const;
};

/// What all relational heads have in common: x [b, n, d] and its symbols -> [b, n, n_heads *
/// head_dim].
struct RelationalHeadsImpl : torch::nn::Module, RecordingPoint {
    explicit RelationalHeadsImpl(const RelationalOptions& options);
    virtual torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols) = 0;

    Linear wv{nullptr}, wo{nullptr};

protected:
    /// sum_j weights_ij^h (s_j W_s^h), or s_{j-i} for relative symbols: [b, h, n, n] -> [b, h, n,
    /// d_h].
    torch::Tensor attendSymbols(const torch::Tensor& weights, const Symbols& symbols);

    RelationalOptions m_options;
    Dropout m_weightDropout{nullptr}, m_outputDropout{nullptr};
};

/// How sum_j alpha_ij r_ij is computed; both give the same numbers (models.md 2, performance.md 1).
enum class RelationForm {
    Automatic,
    Explicit,  ///< the relation tensor r [b, d_r, n, n] is made: any activation, and for recording
    Factored,  ///< identity only: <q_il, sum_j alpha_ij k_jl> / sqrt(d_p), no n x n x d_r tensor
};
const char* relationFormName(RelationForm form);

/// a_i^h = sum_j alpha_ij^h ( W_r^h r_ij + s_j W_s^h ),  r_ij[l] = act(<x_i Wq_l, x_j Wk_l> /
/// sqrt(d_p)). DAT section 2.2; ra_type "relational_attention".
struct RelationalAttentionImpl : RelationalHeadsImpl {
    explicit RelationalAttentionImpl(const RelationalOptions& options);
    torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols) override;
    /// The form that `Automatic` takes for n objects.
    RelationForm chosenForm(std::int64_t n) const;

    Linear wq_attn{nullptr}, wk_attn{nullptr}, wq_rel{nullptr}, wk_rel{nullptr};
    torch::Tensor wr;  ///< [h, d_h, d_r]
    RelationForm form = RelationForm::Automatic;

private:
    /// sum_j alpha_ij r_ij from r [b, d_r, n, n]: [b, h, n, d_r].
    torch::Tensor attendRelations(const torch::Tensor& alpha, const torch::Tensor& r);
    /// The same from q, k [b, n, d_r * d_p], identity activation.
    torch::Tensor attendFactored(const torch::Tensor& alpha, const torch::Tensor& q,
                                 const torch::Tensor& k);
};

/// Relational cross-attention (ABS): a_i^h = sum_j sigma_rel(q_i k_j) s_j W_s^h; ra_type "rca".
struct RelationalCrossAttentionImpl : RelationalHeadsImpl {
    explicit RelationalCrossAttentionImpl(const RelationalOptions& options);
    torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols) override;

    Linear wq{nullptr}, wk{nullptr};
};

/// a_i^h = sum_j alpha_ij^h r_ij^h s_j W_s^h, one relation a head; ra_type "disrca".
struct DisentangledCrossAttentionImpl : RelationalHeadsImpl {
    explicit DisentangledCrossAttentionImpl(const RelationalOptions& options);
    torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols) override;

    Linear wq_attn{nullptr}, wk_attn{nullptr}, wq_rel{nullptr}, wk_rel{nullptr};
};

/// The heads that `ra_type` names.
std::shared_ptr<RelationalHeadsImpl> makeRelationalHeads(const std::string& ra_type,
                                                         const RelationalOptions& options);

}  // namespace relascope
