// SPDX-License-Identifier: GPL-3.0-or-later
// Dual attention and the blocks built from it. DAT section 2.4 and 3.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <functional>

#include "model/attention/attention.h"
#include "model/attention/relational_attention.h"
#include "model/blocks/layers.h"
#include "model/blocks/stack_options.h"

namespace relascope::core {

/// The options of the sensory heads of a stack.
HeadOptions sensoryOptions(const StackOptions& options);
/// The options of the heads of a decoder that attend to the encoder.
HeadOptions crossOptions(const StackOptions& options);

/// concat(e, a): e of the sensory heads, a of the relational ones. x [b, n, d] -> [b, n, d].
struct DualAttentionImpl : torch::nn::Module {
    explicit DualAttentionImpl(const StackOptions& options);
    /// `block`: the hooks of the block, which has the point hook_attn_out.
    torch::Tensor forward(const torch::Tensor& x, const Symbols& symbols,
                          const HookedModule& block);

    Attention self_attention{nullptr};                          ///< null without sensory heads
    std::shared_ptr<RelationalHeadsImpl> relational_attention;  ///< null without relational heads

private:
    torch::Tensor hooked(const torch::Tensor& x, const Symbols& symbols, const HookedModule& block);
};
TORCH_MODULE(DualAttention);

/// The output of an attention module of a block at the point `name` of that block, where dropout
/// follows: finish() of the joined heads.
torch::Tensor hookedOutput(const HookedModule& block, const char* name, Attention& attention,
                           const torch::Tensor& heads);
/// NormImpl::ofSum(x, branch, p) for products, whose sum is the point `name` of a block.
NormedSum hookedSum(const HookedModule& block, const char* name, Norm& norm, const torch::Tensor& x,
                    const torch::Tensor& branch, double p = 0.0);

/// norm_first: x += drop(DA(norm1 x)); x += drop(FF(norm2 x)).
/// post-norm:  x = norm1(x + drop(DA x)); x = drop(x); x = norm2(x + drop(FF x)).
struct DualAttnEncoderBlockImpl : torch::nn::Module, RecordingPoint {
    explicit DualAttnEncoderBlockImpl(const StackOptions& options);
    torch::Tensor forward(torch::Tensor x, const Symbols& symbols);
    /// forward() with the symbols of what the heads read: norm1 x, or x in post-norm.
    using Retrieve = std::function<Symbols(const torch::Tensor&)>;
    torch::Tensor forward(torch::Tensor x, const Retrieve& retrieve);
    bool normFirst() const { return m_normFirst; }

    Norm norm1{nullptr}, norm2{nullptr};
    DualAttention dual_attn{nullptr};
    FeedForward ff_block{nullptr};

private:
    bool m_normFirst;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(DualAttnEncoderBlock);

/// The plain Transformer block: the same with `self_attn` in place of `dual_attn`, or
/// parallel_residual: x + drop(attn(norm1 x)) + drop(FF(norm2 x)). What a sub-layer adds is
/// residual_scale norm1_behind(attn) and residual_scale norm2_behind(FF), with such norms, or a
/// layer scale in their places.
struct EncoderBlockImpl : torch::nn::Module, RecordingPoint {
    /// `options`: of one layer (StackOptions::ofLayer()).
    explicit EncoderBlockImpl(const StackOptions& options);
    torch::Tensor forward(torch::Tensor x);
    bool normFirst() const { return m_normFirst; }
    bool isParallel() const { return m_parallel; }
    double residualScale() const { return m_residualScale; }

    Norm norm1{nullptr}, norm2{nullptr};                ///< norm2 is null where blocks have one
    Norm norm1_behind{nullptr}, norm2_behind{nullptr};  ///< null without
    Attention self_attn{nullptr};
    FeedForward ff_block{nullptr};

private:
    bool m_normFirst, m_parallel;
    double m_residualScale;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(EncoderBlock);

}  // namespace relascope::core
