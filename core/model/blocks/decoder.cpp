// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/decoder.h"

namespace relascope::core {
namespace {

// x plus a sub-layer of x, with the norm before the sub-layer or after the sum.
template <class SubLayer>
torch::Tensor residual(bool normFirst, Norm& norm, const torch::Tensor& x, SubLayer&& subLayer) {
    if (!normFirst) return norm->ofSum(x, subLayer(x)).normed;
    const auto in = norm->ofSum(x);
    return in.sum + subLayer(in.normed);
}

}  // namespace

DualAttnDecoderBlockImpl::DualAttnDecoderBlockImpl(const StackOptions& s)
    : m_normFirst(s.block.norm_first) {
    const auto& o = s.block;
    norm1 = register_module("norm1", Norm(s.d_model, o.norm_type));
    dual_attn = register_module("dual_attn", DualAttention(s));
    norm2 = register_module("norm2", Norm(s.d_model, o.norm_type));
    cross_attn = register_module("cross_attn", Attention(crossOptions(s)));
    norm3 = register_module("norm3", Norm(s.d_model, o.norm_type));
    ff_block =
        register_module("ff_block", FeedForward(s.d_model, o.dff, o.activation, s.feedForwardBias));
}

torch::Tensor DualAttnDecoderBlockImpl::forward(torch::Tensor x, const torch::Tensor& context,
                                                const Symbols& symbols) {
    x = residual(m_normFirst, norm1, x,
                 [&](const torch::Tensor& y) { return dual_attn(y, symbols); });
    x = residual(m_normFirst, norm2, x,
                 [&](const torch::Tensor& y) { return cross_attn(y, context, context); });
    x = residual(m_normFirst, norm3, x, [&](const torch::Tensor& y) { return ff_block(y); });
    if (auto* recorder = activeRecorder()) recorder->hidden(path, x);
    return x;
}

DecoderBlockImpl::DecoderBlockImpl(const StackOptions& s) : m_normFirst(s.block.norm_first) {
    const auto& o = s.block;
    auto heads = sensoryOptions(s);
    heads.add_bias_out = o.bias;
    norm1 = register_module("norm1", Norm(s.d_model, o.norm_type));
    self_attn = register_module("self_attn", Attention(heads));
    norm2 = register_module("norm2", Norm(s.d_model, o.norm_type));
    cross_attn = register_module("cross_attn", Attention(crossOptions(s)));
    norm3 = register_module("norm3", Norm(s.d_model, o.norm_type));
    ff_block =
        register_module("ff_block", FeedForward(s.d_model, o.dff, o.activation, s.feedForwardBias));
}

torch::Tensor DecoderBlockImpl::forward(torch::Tensor x, const torch::Tensor& context) {
    x = residual(m_normFirst, norm1, x, [&](const torch::Tensor& y) { return self_attn(y, y, y); });
    x = residual(m_normFirst, norm2, x,
                 [&](const torch::Tensor& y) { return cross_attn(y, context, context); });
    x = residual(m_normFirst, norm3, x, [&](const torch::Tensor& y) { return ff_block(y); });
    if (auto* recorder = activeRecorder()) recorder->hidden(path, x);
    return x;
}

}  // namespace relascope::core
