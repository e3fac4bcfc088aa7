// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/abstractor/message_passing.h"

#include "model/attention/relational_attention.h"
#include "model/model.h"

namespace relascope::core {

MessagePassingLayerImpl::MessagePassingLayerImpl(const MessagePassingOptions& o,
                                                 std::int64_t abstractWidth)
    : m_relations(o.n_relations), m_sigma(o.rel_activation), m_softmax(o.message_softmax) {
    const std::int64_t d = o.d_model, width = o.n_relations * o.rel_proj_dim;
    wq = register_module("wq", Linear(d, width, false));
    wk = register_module("wk", o.symmetric_rels ? wq : Linear(d, width, false));
    for (std::int64_t r = 0; r < m_relations; ++r)
        values->push_back(Linear(abstractWidth, d / m_relations));
    register_module("values", values);
    ff_block = register_module("ff_block", FeedForward(d, o.dff, "relu", true));
    norm1 = register_module("norm1", Norm(d, "layernorm", 1e-3));
    if (o.abs_norm != "none") norm2 = register_module("norm2", Norm(d, o.abs_norm, 1e-3));
    if (o.use_self_attn) {
        self_attn = register_module("self_attn", AbstractorAttention(AbstractorHeads{
                                                     d, o.n_heads_sa, o.keyDim(), o.dropout_rate}));
        norm3 = register_module("norm3", Norm(d, "layernorm", 1e-3));
    }
    m_dropout = register_module("dropout", Dropout(o.dropout_rate));
}

torch::Tensor MessagePassingLayerImpl::forward(const torch::Tensor& a, const torch::Tensor& x) {
    const HookedModule hooks(hook), relations(activeHooks() ? hook + ".rca" : hook);
    const auto r = hookedRelationMaps(relations, m_sigma,
                                      torch::matmul(splitHeads(wq(x), m_relations),
                                                    splitHeads(wk(x), m_relations).transpose(2, 3)),
                                      0);  // [b, r, n, n]
    const auto alpha = relations("hook_pattern", axes::pattern, m_softmax ? softmaxOf(r) : r);
    if (auto* recorder = activeRecorder()) {
        recorder->relations(path, r.permute({0, 2, 3, 1}));
        recorder->scores(path, alpha);
    }
    const auto messages = hookedHeads(relations, "hook_z", axes::heads,
                                      torch::matmul(alpha, a.unsqueeze(1)));  // [b, r, n, width]
    std::vector<torch::Tensor> parts;
    for (std::int64_t i = 0; i < m_relations; ++i)
        parts.push_back(values[i]->as<LinearImpl>()->forward(messages.select(1, i)));
    auto out = torch::cat(parts, -1);  // [b, n, d]
    out = norm1(out + m_dropout(ff_block(out)));
    if (!norm2.is_empty()) out = norm2(out);
    if (!self_attn.is_empty()) out = norm3(out + self_attn(out, out, out));
    out = hooks("hook_resid_post", axes::stream, out);
    if (auto* recorder = activeRecorder()) recorder->hidden(path, out);
    return out;
}

MessagePassingAbstractorImpl::MessagePassingAbstractorImpl(const Options& o) : ModelWith(o) {
    embedder = register_module("embedder", Linear(o.object_dim, o.d_model));
    symbols = register_parameter("symbols", newNormal({o.n_objects, o.symbolDim()}));
    for (std::int64_t i = 0; i < o.n_layers; ++i)
        layers->push_back(MessagePassingLayer(o, i == 0 ? o.symbolDim() : o.d_model));
    register_module("layers", layers);
    hidden = register_module("hidden", Linear(o.n_objects * o.d_model, o.hidden));
    final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
}

torch::Tensor MessagePassingAbstractorImpl::outputs(const torch::Tensor& input) {
    const auto x = HookedModule("")("hook_embed", axes::stream, embedder(input));  // [b, n, d]
    auto a = symbols.unsqueeze(0).expand({x.size(0), x.size(1), -1});  // [b, n, symbol_dim]
    a = HookedModule("abstractor")("hook_symbols", axes::stream, a);
    for (const auto& layer : *layers) a = layer->as<MessagePassingLayerImpl>()->forward(a, x);
    return final_out(torch::relu(hidden(a.flatten(1))));  // [b, out_dim]
}

namespace {

const auto model =
    RegisterModel::of<MessagePassingAbstractorImpl>("MessagePassingAbstractor", initGlorot);

}  // namespace
}  // namespace relascope::core
