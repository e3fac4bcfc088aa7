// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/one_head/one_head.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/attention/relational_attention.h"
#include "model/model.h"

namespace relascope::core {
namespace {

std::vector<std::int64_t> mapWidths(std::int64_t in, std::int64_t width, std::int64_t out) {
    return {in, width, width, out};
}

}  // namespace

OneHeadImpl::OneHeadImpl(const OneHeadOptions& o)
    : m_scale(1.0 / std::sqrt(static_cast<double>(o.keyDim()))), m_relations(o.n_relations) {
    const auto width = featureWidth(o), dim = o.object_dim;
    const auto map = [&](const char* name, std::int64_t out) {
        return register_module(name, Mlp(mapWidths(dim, width, out)));
    };
    hook = o.kind == HeadKind::Sensory ? "attn" : "rel";
    query = map("query", o.keyDim());
    key = map("key", o.keyDim());
    if (o.kind == HeadKind::Sensory) {
        value = map("value", o.out_dim);
        return;
    }
    if (o.kind == HeadKind::Relational) {
        rel_query = map("rel_query", o.n_relations * o.rel_proj_dim);
        rel_key = map("rel_key", o.n_relations * o.rel_proj_dim);
        const double bound = 1.0 / std::sqrt(static_cast<double>(o.n_relations));
        wr = register_parameter("wr", newParameter({o.out_dim, o.n_relations}, [&](auto& weight) {
                                    weight.uniform_(-bound, bound);
                                }));
    }
    symbols = register_parameter("symbols", newNormal({o.n_objects - 1, o.symbolDim()}));
    wv = register_module("wv", Linear(o.symbolDim(), o.out_dim, false));
}

torch::Tensor OneHeadImpl::forward(const torch::Tensor& objects) {
    const auto x = objects.slice(1, 0, 1), y = objects.slice(1, 1);  // [b, 1, dim], [b, n, dim]
    const HookedModule hooks(hook);
    const auto single = [&](const char* name, const torch::Tensor& t) {  // [b, k, w]
        return hooks ? hooks(name, axes::heads, t.unsqueeze(2)).squeeze(2) : t;
    };
    const auto scores =
        hooks("hook_attn_scores", axes::pattern,
              (torch::matmul(single("hook_q", query(x)), single("hook_k", key(y)).transpose(1, 2)) *
               m_scale)
                  .unsqueeze(1));
    const auto alpha = hooks("hook_pattern", axes::pattern,
                             hooks ? softmaxOfOpen(scores) : softmaxOf(scores))
                           .squeeze(1);  // [b, 1, n]
    auto* recorder = activeRecorder();
    // Displayed as a row of all objects, where x sends nothing to itself.
    if (recorder) recorder->scores(path, torch::constant_pad_nd(alpha, {1, 0}).unsqueeze(1));
    const auto answered = [&](const torch::Tensor& out) {
        return single("hook_z", out).squeeze(1);
    };
    if (!value.is_empty()) return answered(torch::matmul(alpha, single("hook_v", value(y))));
    auto sent = wv(symbols).unsqueeze(0);  // [1, n, out]
    if (!rel_query.is_empty()) {
        const auto split = [&](const torch::Tensor& t) {  // [b, k, r * p] -> [b, r, k, p]
            return t.unflatten(2, {m_relations, -1}).transpose(1, 2);
        };
        const auto r = hookedRelationMaps(
            hooks, "identity",
            torch::matmul(split(rel_query(x)), split(rel_key(y)).transpose(2, 3)), 0);
        const auto related = torch::matmul(r.squeeze(2).transpose(1, 2), wr.t());  // [b, n, out]
        const auto symbolic = sent.expand({objects.size(0), -1, -1});
        sent = sent + related;
        if (recorder)
            recorder->relations(path, torch::constant_pad_nd(sent, {0, 0, 1, 0}).unsqueeze(1));
        if (hooks.takes("hook_z_rel") || hooks.takes("hook_z_sym"))
            return answered(single("hook_z_rel", torch::matmul(alpha, related)) +
                            single("hook_z_sym", torch::matmul(alpha, symbolic)));
    }
    return answered(torch::matmul(alpha, sent.expand({objects.size(0), -1, -1})));
}

OneHeadModelImpl::OneHeadModelImpl(const Options& o) : ModelWith(o) {
    head = register_module("head", OneHead(o));
}

torch::Tensor OneHeadModelImpl::outputs(const torch::Tensor& input) {
    return head(input);
}

InnerProductRelationImpl::InnerProductRelationImpl(const Options& o) : ModelWith(o) {
    const auto widths = mapWidths(o.object_dim, o.d_model, o.rel_proj_dim);
    left = register_module("left", Mlp(widths));
    right = register_module("right", o.symmetric_rels ? left : Mlp(widths));
    relation = register_module("relation", Similarity(false));
}

torch::Tensor InnerProductRelationImpl::outputs(const torch::Tensor& input) {
    const auto r = relation(left(input), right(input));  // [b, 2, 2]
    return r.select(1, 0).slice(1, 1);                   // relation of the first to the second
}

namespace {

const auto relational = RegisterModel::of<OneHeadModelImpl>("RelationalHead");
const auto sensory = RegisterModel::of<OneHeadModelImpl>("SensoryHead");
const auto cross = RegisterModel::of<OneHeadModelImpl>("RcaHead");
const auto inner = RegisterModel::of<InnerProductRelationImpl>("InnerProductRelation");

}  // namespace
}  // namespace relascope::core
