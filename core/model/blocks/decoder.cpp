// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/decoder.h"

#include "model/blocks/module_span.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"

namespace relascope::core {
namespace {

// x plus a sub-layer of x, with the norm before the sub-layer or after the sum.
template <class SubLayer>
torch::Tensor residual(bool normFirst, Norm& norm, const torch::Tensor& x, SubLayer&& subLayer) {
    if (!normFirst) return norm->ofSum(x, subLayer(x)).normed;
    const auto in = norm->ofSum(x, {}, 0.0, true);
    return addDropped(in.sum, subLayer(in.normed), 0.0);
}

// x through self-attention, cross-attention and feed-forward, with their residual connections.
template <class Block, class Attend>
torch::Tensor throughDecoderBlock(Block& block, bool normFirst, torch::Tensor x,
                                  const torch::Tensor& context, const HookedModule& hooks,
                                  Attend&& attend) {
    const auto stream = [&](const char* name, const torch::Tensor& value) {
        return hooks(name, axes::stream, value);
    };
    x = stream("hook_resid_pre", x);
    x = stream("hook_resid_mid", residual(normFirst, block.norm1, x, attend));
    x = stream("hook_resid_mid_cross",
               residual(normFirst, block.norm2, x, [&](const torch::Tensor& y) {
                   return hookedOutput(hooks, "hook_cross_attn_out", block.cross_attn,
                                       block.cross_attn->heads(y, context, context));
               }));
    x = stream("hook_resid_post", residual(normFirst, block.norm3, x, [&](const torch::Tensor& y) {
                   return stream("hook_mlp_out", block.ff_block(y));
               }));
    if (auto* recorder = activeRecorder()) recorder->hidden(block.path, x);
    return x;
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
    const ModuleSpan span(*this);
    const HookedModule hooks(hook, tokensBefore());
    return throughDecoderBlock(*this, m_normFirst, x, context, hooks, [&](const torch::Tensor& y) {
        return dual_attn(y, symbols, hooks);
    });
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
    const ModuleSpan span(*this);
    const HookedModule hooks(hook, tokensBefore());
    return throughDecoderBlock(*this, m_normFirst, x, context, hooks, [&](const torch::Tensor& y) {
        return hookedOutput(hooks, "hook_attn_out", self_attn, self_attn->heads(y, y, y));
    });
}

}  // namespace relascope::core
