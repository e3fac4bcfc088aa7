// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention and its two variants: heads that mix the relations to other objects.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/attention/attention.h"
#include "model/attention/symbols.h"

namespace relascope::core {

struct CudaAttentionInput;  // cuda_attention.h, as KernelCall
struct KernelCall;
struct KernelOptions;

struct RelationalOptions : HeadOptions {
    std::int64_t n_relations = 0;   ///< d_r [n_heads]
    std::int64_t rel_proj_dim = 0;  ///< d_p, any width [head_dim * n_heads / n_relations]
    std::string rel_activation = "identity";
    bool symmetric_rels = false;
    std::string rca_activation = "softmax";
    std::int64_t symbol_dim = 0;    ///< width of the symbols [d_model]
    bool rel_add_bias = true;       ///< disrca: bias on keys of relations, where keys have one
    bool masked_relations = false;  ///< r is 0 in closed cells, a softmax runs over open ones

    std::int64_t symbolDim() const { return symbol_dim > 0 ? symbol_dim : d_model; }
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

/// sum_j weights_ij^h (s_j W_s^h), or s_{j-i} for relative symbols: weights [b, h, n, m], where row
/// i has position first + i -> [b, h, n, d_h].
torch::Tensor mixSymbols(const torch::Tensor& weights, const ProjectedSymbols& symbols,
                         std::int64_t first);
/// The relations of scaled inner products [b, l, n, m] with the points hook_rel_scores and hook_r
/// of a module, for rows from position `first`: [b, l, n, m]. They are 0 in `closed` cells ([n, m]
/// or [b, 1, n, m]), which take no part in a softmax; undefined: none.
torch::Tensor hookedRelationMaps(const HookedModule& hooks, const std::string& activation,
                                 const torch::Tensor& inner, std::int64_t first,
                                 const torch::Tensor& closed = {});

/// The common base of all relational heads: x [b, n, d] and its symbols -> [b, n, n_heads *
/// head_dim].
struct RelationalHeadsImpl : torch::nn::Module, RecordingPoint {
    explicit RelationalHeadsImpl(const RelationalOptions& options);
    torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols) {
        return finish(heads(x, symbols));
    }
    /// The joined heads of forward(), before `wo`: [b, n, n_heads * head_dim].
    virtual torch::Tensor heads(const torch::Tensor& x, const Symbols& symbols) = 0;
    /// The form that `Automatic` selects for a batch of n objects each on that device, without a
    /// recorder and where no CUDA kernel is chosen (cuda_attention.h).
    virtual AttentionForm chosenForm(std::int64_t n, const torch::Device& device,
                                     std::int64_t batch = 1) const;
    /// The sizes, as AttentionImpl::kernelHeads(); none for heads that our CUDA kernels do not
    /// compute.
    virtual std::optional<KernelHeads> kernelHeads(const Symbols& symbols) const;
    /// The tensors of a call, for relational attention and cross-attention. With a cache, all its
    /// rows.
    KernelCall kernelCall(const torch::Tensor& x, const Symbols& symbols);
    torch::Tensor finish(const torch::Tensor& heads) { return dropOutput(wo(heads)); }
    torch::Tensor dropOutput(const torch::Tensor& output) { return m_outputDropout(output); }

    const RelationalOptions& options() const { return m_options; }
    /// The form that the last forward pass used: "chunked", "cuda, tensor cores". Empty before the
    /// first pass.
    const std::string& lastForm() const { return m_lastForm; }

    Linear wv{nullptr}, wo{nullptr};
    AttentionForm form = AttentionForm::Automatic;

protected:
    /// The joined heads by CUDA kernels, where these are chosen; undefined otherwise.
    torch::Tensor byKernels(const CudaAttentionInput& input, const KernelOptions& options);
    /// The tensors of kernelCall() for the tokens of x alone, before they have positions.
    virtual KernelCall projections(const torch::Tensor& x, const Symbols& symbols);
    /// The heads' output for one more token, by the kernels that append to the cache; undefined
    /// where these do not serve.
    torch::Tensor decoded(const torch::Tensor& x, const Symbols& symbols);
    /// Projects the symbols of the tokens of x.
    ProjectedSymbols projected(const Symbols& symbols, const torch::Tensor& x);
    /// projected(), and with a cache the projected symbols of earlier tokens before them.
    ProjectedSymbols project(const Symbols& symbols, const torch::Tensor& x);
    AttentionForm formFor(const torch::Tensor& x) const;
    /// The sizes of the heads, without relations.
    KernelHeads sizes(const Symbols& symbols, std::int64_t keyDim) const;
    double weightDropout() const { return is_training() ? m_options.dropout : 0.0; }
    /// The documents that close cells of these heads.
    Documents documents() const { return m_options.causal ? activeDocuments() : Documents(); }
    /// The closed cells of relations, for hookedRelationMaps(): n rows from position `first` of m
    /// objects. Undefined where relations of closed cells are kept.
    torch::Tensor closedRelations(std::int64_t n, std::int64_t m, std::int64_t first,
                                  const torch::Device& device, const Documents& documents) const;

    /// Computes a block of rows from its queries (the `queries` tensors, rows along dimension 2)
    /// and the keys, values and symbols; returns tensors with rows along dimension 2. `drop`
    /// applies dropout to attention weights.
    using Drop = std::function<torch::Tensor(const torch::Tensor&)>;
    using Rows = std::function<std::vector<torch::Tensor>(
        const std::vector<torch::Tensor>& queries, const std::vector<torch::Tensor>& keys,
        const ProjectedSymbols& symbols, std::int64_t first, const Drop& drop)>;
    /// `attend` over all rows at once, or block by block. `allColumns`: rows read keys beyond their
    /// own position, although they do not mix them.
    std::vector<torch::Tensor> overRows(const std::vector<torch::Tensor>& queries,
                                        const std::vector<torch::Tensor>& keys,
                                        const ProjectedSymbols& symbols, bool blocks,
                                        bool allColumns, const Rows& attend);

    RelationalOptions m_options;
    RotaryPositions m_rotary;
    Dropout m_outputDropout{nullptr};
    std::string m_lastForm;
};

/// a_i^h = sum_j alpha_ij^h ( W_r^h r_ij + s_j W_s^h ),  r_ij[l] = act(<x_i Wq_l, x_j Wk_l> /
/// sqrt(d_p)). DAT section 2.2; ra_type "relational_attention".
struct RelationalAttentionImpl : RelationalHeadsImpl {
    explicit RelationalAttentionImpl(const RelationalOptions& options);
    torch::Tensor heads(const torch::Tensor& x, const Symbols& symbols) override;
    AttentionForm chosenForm(std::int64_t n, const torch::Device& device,
                             std::int64_t batch = 1) const override;
    std::optional<KernelHeads> kernelHeads(const Symbols& symbols) const override;

    Linear wq_attn{nullptr}, wk_attn{nullptr}, wq_rel{nullptr}, wk_rel{nullptr};
    torch::Tensor wr;  ///< [h, d_h, d_r]

private:
    KernelCall projections(const torch::Tensor& x, const Symbols& symbols) override;
    /// The form that Automatic selects where the tiled one does not serve.
    AttentionForm plainForm(std::int64_t n, const torch::Device& device) const;
    /// Multiplies q_rel [b, d_r, n, d_p] by the factors of whole relations, if that is all that the
    /// hooks do to r; returns whether they need r itself.
    bool takesRelations(const HookedModule& hooks, torch::Tensor& q_rel) const;
    /// The form that has r, for hooks that take it.
    AttentionForm wholeOrChunked(std::int64_t n) const;
    /// The form with whole matrices for n objects.
    AttentionForm wholeForm(std::int64_t n) const;
    /// r [b, d_r, n, m] of q [b, d_r, n, d_p] and k [b, d_r, m, d_p] with the points of a module,
    /// for rows from position `first`; `closed` as in hookedRelationMaps().
    torch::Tensor relationsOf(const HookedModule& hooks, const torch::Tensor& q,
                              const torch::Tensor& k, std::int64_t first,
                              const torch::Tensor& closed) const;
    /// sum_j alpha_ij r_ij [b, h, n, d_r] from the sums sum_j alpha_ij k_jl [b, h, n, d_r d_p].
    torch::Tensor relatedTo(const torch::Tensor& q, const torch::Tensor& keys) const;
    /// related [b, h, n, d_r] and symbolic [b, h, n, d_h], by a kernel of LibTorch.
    std::vector<torch::Tensor> fused(const torch::Tensor& q, const torch::Tensor& k,
                                     const torch::Tensor& q_rel, const torch::Tensor& k_rel,
                                     const ProjectedSymbols& symbols) const;
};

/// Relational cross-attention (ABS): a_i^h = sum_j sigma_rel(q_i k_j) s_j W_s^h; ra_type "rca".
struct RelationalCrossAttentionImpl : RelationalHeadsImpl {
    explicit RelationalCrossAttentionImpl(const RelationalOptions& options);
    torch::Tensor heads(const torch::Tensor& x, const Symbols& symbols) override;
    std::optional<KernelHeads> kernelHeads(const Symbols& symbols) const override;

    Linear wq{nullptr}, wk{nullptr};

private:
    KernelCall projections(const torch::Tensor& x, const Symbols& symbols) override;
};

/// a_i^h = sum_j alpha_ij^h r_ij^h s_j W_s^h, one relation for each head; ra_type "disrca".
struct DisentangledCrossAttentionImpl : RelationalHeadsImpl {
    explicit DisentangledCrossAttentionImpl(const RelationalOptions& options);
    torch::Tensor heads(const torch::Tensor& x, const Symbols& symbols) override;

    Linear wq_attn{nullptr}, wk_attn{nullptr}, wq_rel{nullptr}, wk_rel{nullptr};
};

/// Initialises W_r of every relational attention as the authors' code of May 2024 did for the
/// published curves of Relational Games (DAT 4.1): a linear layer of n_relations inputs, uniform
/// within 1 / sqrt(n_relations). The later package uses the fan-in head_dim * n_relations.
void initRelationsAsMay2024(torch::nn::Module& model);

/// The heads that `ra_type` names.
std::shared_ptr<RelationalHeadsImpl> makeRelationalHeads(const std::string& ra_type,
                                                         const RelationalOptions& options);

}  // namespace relascope::core
