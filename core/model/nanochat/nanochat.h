// SPDX-License-Identifier: GPL-3.0-or-later
// nanochat's decoder, with ordinary heads or with Hadamard relations (models.md 10).
#pragma once

#include "model/attention/attention.h"
#include "model/language/language.h"
#include "model/nanochat/nanochat_options.h"

namespace relascope::core {

/// Sensory heads and heads with Hadamard relations, with the queries and keys of one alpha:
///     sensory     z_i = sum_j alpha_ij v_j
///     relational  z_i = q_rel_i * sum_j alpha_ij k_rel_j    elementwise: r_ij = q_rel_i * k_rel_j,
///                                                           head_dim relations of width 1 a head
/// Nothing of n x n x head_dim is computed, unless an edit needs r itself.
struct NanochatAttentionImpl : torch::nn::Module {
    NanochatAttentionImpl(const NanochatOptions& options, std::int64_t layer);
    /// The joined heads before `wo`: y [b, n, d] and the value embeddings of the tokens [b, n, K
    /// head_dim], which may be undefined -> [b, n, d].
    torch::Tensor heads(const torch::Tensor& y, const torch::Tensor& valueEmbedding);
    const NanochatOptions& options() const { return m_options; }

    Linear wq{nullptr}, wk{nullptr}, wv{nullptr}, wo{nullptr};
    Linear wq_rel{nullptr}, wk_rel{nullptr};                           ///< with Hadamard heads
    Linear value_gate{nullptr}, rel_gate{nullptr};                     ///< with value embeddings
    Attention self_attention{nullptr}, relational_attention{nullptr};  ///< null without such heads

private:
    /// The queries [b, heads, n, head_dim] of one kind of heads, and its keys [b, kv heads, m,
    /// head_dim], turned, normed and behind those of the cache.
    struct Rows {
        torch::Tensor q, k;
    };
    Rows rows(AttentionImpl& attention, const HookedModule& hooks, const torch::Tensor& q,
              const torch::Tensor& k, std::int64_t past);
    /// The output of Hadamard heads, [b, n, heads head_dim]: q_rel like it, k_rel [b, kv heads, n,
    /// head_dim].
    torch::Tensor related(const HookedModule& hooks, const Rows& rows, torch::Tensor qRel,
                          torch::Tensor kRel, std::int64_t past);

    NanochatOptions m_options;
    RotaryPositions m_rotary;
};
TORCH_MODULE(NanochatAttention);

/// x += attn(norm1 x); x += FF(norm2 x), with norms without weights.
struct NanochatBlockImpl : torch::nn::Module, RecordingPoint {
    NanochatBlockImpl(const NanochatOptions& options, std::int64_t layer);
    torch::Tensor forward(torch::Tensor x, const torch::Tensor& valueEmbedding);

    Norm norm1{nullptr}, norm2{nullptr};
    NanochatAttention dual_attn{nullptr};
    FeedForward ff_block{nullptr};
};
TORCH_MODULE(NanochatBlock);

/// Before every block the stream is mixed with the embedding: x = resid_lambdas x + x0_lambdas x0.
struct NanochatImpl : ModelImpl {
    explicit NanochatImpl(const NanochatOptions& options);
    /// As LanguageModelImpl::forward().
    torch::Tensor forward(const ModelInput& tokens) override;

    torch::Tensor resid_lambdas, x0_lambdas;  ///< [n_layers]

private:
    NanochatOptions m_options;
    Embedding m_tokens{nullptr};
    std::vector<Embedding> m_values;  ///< by layer; null for layers without one
    torch::nn::ModuleList m_blocks{nullptr};
    Norm m_norm{nullptr};
    Linear m_out{nullptr};
};

}  // namespace relascope::core
