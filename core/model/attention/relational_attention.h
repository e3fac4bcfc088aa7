// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention and its two ablations: heads that mix how the other objects relate.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/attention/attention.h"
#include "model/attention/symbols.h"

namespace relascope::core {

struct RelationalOptions : HeadOptions {
    std::int64_t n_relations = 0;   ///< d_r [n_heads]
    std::int64_t rel_proj_dim = 0;  ///< d_p, any width [head_dim * n_heads / n_relations]
    std::string rel_activation = "identity";
    bool symmetric_rels = false;
    std::string rca_activation = "softmax";

    std::int64_t relations() const { return n_relations > 0 ? n_relations : n_heads; }
    std::int64_t projDim() const { return rel_proj_dim > 0 ? rel_proj_dim : width() / relations(); }
    void check() const;
};

/// The symbols of the senders after the projection W_s: values [b or 1, h_kv, m, d_h]; or the
/// library of relative symbols, [h_kv, 2 maxOffset + 1, d_h].
struct ProjectedSymbols {
    torch::Tensor values;
    std::int64_t maxOffset = -1;
};

/// sum_j weights_ij^h (s_j W_s^h), or s_{j-i} for relative symbols: weights [b, h, n, m], whose row
/// i stands at position first + i -> [b, h, n, d_h].
torch::Tensor mixSymbols(const torch::Tensor& weights, const ProjectedSymbols& symbols,
                         std::int64_t first);

/// What all relational heads have in common: x [b, n, d] and its symbols -> [b, n, n_heads *
/// head_dim].
struct RelationalHeadsImpl : torch::nn::Module, RecordingPoint {
    explicit RelationalHeadsImpl(const RelationalOptions& options);
    virtual torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols) = 0;
    /// The form that `Automatic` takes for n objects there, without a recorder.
    virtual AttentionForm chosenForm(std::int64_t n, const torch::Device& device) const;

    Linear wv{nullptr}, wo{nullptr};
    AttentionForm form = AttentionForm::Automatic;

protected:
    /// Projects the symbols and, with a cache, adds those of all tokens before.
    ProjectedSymbols project(const Symbols& symbols, const torch::Tensor& x);
    AttentionForm formFor(const torch::Tensor& x) const;
    double weightDropout() const { return is_training() ? m_options.dropout : 0.0; }

    /// What a block of rows computes of its queries (the `queries` tensors, rows along dimension 2)
    /// and of the keys, values and symbols: tensors with rows along dimension 2. `drop` puts
    /// dropout on attention weights.
    using Drop = std::function<torch::Tensor(const torch::Tensor&)>;
    using Rows = std::function<std::vector<torch::Tensor>(
        const std::vector<torch::Tensor>& queries, const std::vector<torch::Tensor>& keys,
        const ProjectedSymbols& symbols, std::int64_t first, const Drop& drop)>;
    /// `attend` over all rows at once, or block by block. `allColumns`: rows read beyond their own
    /// position (though they mix nothing from there).
    std::vector<torch::Tensor> overRows(const std::vector<torch::Tensor>& queries,
                                        const std::vector<torch::Tensor>& keys,
                                        const ProjectedSymbols& symbols, bool blocks,
                                        bool allColumns, const Rows& attend);

    RelationalOptions m_options;
    RotaryPositions m_rotary;
    Dropout m_outputDropout{nullptr};
};

/// a_i^h = sum_j alpha_ij^h ( W_r^h r_ij + s_j W_s^h ),  r_ij[l] = act(<x_i Wq_l, x_j Wk_l> /
/// sqrt(d_p)). DAT section 2.2; ra_type "relational_attention".
struct RelationalAttentionImpl : RelationalHeadsImpl {
    explicit RelationalAttentionImpl(const RelationalOptions& options);
    torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols) override;
    AttentionForm chosenForm(std::int64_t n, const torch::Device& device) const override;

    Linear wq_attn{nullptr}, wk_attn{nullptr}, wq_rel{nullptr}, wk_rel{nullptr};
    torch::Tensor wr;  ///< [h, d_h, d_r]

private:
    /// r [b, d_r, n, m] of q [b, d_r, n, d_p] and k [b, d_r, m, d_p].
    torch::Tensor relationsOf(const torch::Tensor& q, const torch::Tensor& k) const;
    /// sum_j alpha_ij r_ij [b, h, n, d_r] from the sums sum_j alpha_ij k_jl [b, h, n, d_r d_p].
    torch::Tensor relatedTo(const torch::Tensor& q, const torch::Tensor& keys) const;
    /// related [b, h, n, d_r] and symbolic [b, h, n, d_h], by one of LibTorch's kernels.
    std::vector<torch::Tensor> fused(const torch::Tensor& q, const torch::Tensor& k,
                                     const torch::Tensor& q_rel, const torch::Tensor& k_rel,
                                     const ProjectedSymbols& symbols) const;
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

/// W_r of every relational attention as the authors' code of May 2024 drew it, which made the
/// published curves of Relational Games (DAT 4.1): a linear layer of n_relations inputs, uniform
/// within 1 / sqrt(n_relations). The package's later start has the fan-in head_dim * n_relations.
void initRelationsAsMay2024(torch::nn::Module& model);

/// The heads that `ra_type` names.
std::shared_ptr<RelationalHeadsImpl> makeRelationalHeads(const std::string& ra_type,
                                                         const RelationalOptions& options);

}  // namespace relascope::core
