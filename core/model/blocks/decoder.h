// SPDX-License-Identifier: GPL-3.0-or-later
// Decoder blocks: self-attention, then cross-attention to the output of the encoder. DAT section 3.
#pragma once

#include "model/blocks/dual_attention.h"

namespace relascope::core {

/// norm_first: x += drop(DA(norm1 x)); x += drop(CA(norm2 x, context)); x += FF(norm3 x).
/// post-norm:  the same sums, normalised after each. No dropout after the feed-forward block.
struct DualAttnDecoderBlockImpl : torch::nn::Module, RecordingPoint {
    explicit DualAttnDecoderBlockImpl(const StackOptions& options);
    /// x [b, m, d] attends to context [b, n, d].
    torch::Tensor forward(torch::Tensor x, const torch::Tensor& context, const Symbols& symbols);
    bool normFirst() const { return m_normFirst; }

    Norm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
    DualAttention dual_attn{nullptr};
    Attention cross_attn{nullptr};
    FeedForward ff_block{nullptr};

private:
    bool m_normFirst;
};
TORCH_MODULE(DualAttnDecoderBlock);

/// The decoder block of a plain Transformer: `self_attn` in place of `dual_attn`.
struct DecoderBlockImpl : torch::nn::Module, RecordingPoint {
    explicit DecoderBlockImpl(const StackOptions& options);
    torch::Tensor forward(torch::Tensor x, const torch::Tensor& context);
    bool normFirst() const { return m_normFirst; }

    Norm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
    Attention self_attn{nullptr}, cross_attn{nullptr};
    FeedForward ff_block{nullptr};

private:
    bool m_normFirst;
};
TORCH_MODULE(DecoderBlock);

}  // namespace relascope::core
