// SPDX-License-Identifier: GPL-3.0-or-later
// A single attention head: an object x attends to objects y_1 .. y_n with MLPs as feature maps (DAT
// 2.4 and appendix A; ABS 3). And a relation of two objects as an inner product.
#pragma once

#include "model/baselines/relational_baselines.h"
#include "model/model.h"
#include "model/one_head/one_head_options.h"

namespace relascope::core {

/// With alpha = softmax over i of <phi_q x, phi_k y_i> / sqrt(key_dim) the head computes
///   relational  sum_i alpha_i (W_r r_i + W_s s_i), r_i[l] = <psi_q,l x, psi_k,l y_i>,
///   sensory     sum_i alpha_i phi_v y_i,
///   RCA         sum_i alpha_i W_s s_i.
/// No MLP follows, and there is no residual connection. The relational head records W_r r_i + W_s
/// s_i, the message of each y_i, as its relations, because it has the scale of the output: if alpha
/// selects one y, it is R(x, y).
struct OneHeadImpl : torch::nn::Module, RecordingPoint {
    explicit OneHeadImpl(const OneHeadOptions& options);
    /// objects [b, 1 + n, dim], x first -> [b, out_dim].
    torch::Tensor forward(const torch::Tensor& objects);

    Mlp query{nullptr}, key{nullptr};          ///< phi_q, phi_k
    Mlp rel_query{nullptr}, rel_key{nullptr};  ///< psi of all relations, relation outermost
    torch::Tensor wr;                          ///< [out_dim, n_relations]
    Mlp value{nullptr};                        ///< phi_v
    torch::Tensor symbols;                     ///< [n, symbol_dim]
    Linear wv{nullptr};                        ///< W_s

private:
    double m_scale;
    std::int64_t m_relations;
};
TORCH_MODULE(OneHead);

/// The published models `RelationalHead`, `SensoryHead` and `RcaHead`.
struct OneHeadModelImpl : ModelWith<OneHeadOptions> {
    explicit OneHeadModelImpl(const Options& options);

    OneHead head{nullptr};

protected:
    /// objects [b, 1 + n, dim] -> [b, out_dim].
    torch::Tensor outputs(const torch::Tensor& objects) override;
};

/// <left x, right y>: MLPs to rel_proj_dim numbers, with two hidden layers of d_model; symmetric:
/// one for both.
struct InnerProductRelationImpl : ModelWith<InnerProductOptions> {
    explicit InnerProductRelationImpl(const Options& options);

    Mlp left{nullptr}, right{nullptr};
    Similarity relation{nullptr};

protected:
    /// objects [b, 2, dim] -> [b, 1].
    torch::Tensor outputs(const torch::Tensor& objects) override;
};

}  // namespace relascope::core
