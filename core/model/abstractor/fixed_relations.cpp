// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/abstractor/fixed_relations.h"

#include "model/abstractor/abstractor.h"
#include "model/attention/relational_attention.h"
#include "model/model.h"

namespace relascope::core {
namespace {

constexpr double kSharpness = 50.0;

}  // namespace

PairwiseRelationsImpl::PairwiseRelationsImpl(const PairRelationsOptions& o, bool sharp)
    : m_relations(o.n_relations),
      m_sharpness(sharp ? kSharpness / static_cast<double>(o.rel_proj_dim) : 0.0) {
    const std::int64_t width = o.n_relations * o.rel_proj_dim;
    wq = register_module("wq", Linear(o.object_dim, width));
    wk = register_module("wk", Linear(o.object_dim, width));
}

torch::Tensor PairwiseRelationsImpl::forward(const torch::Tensor& x) {
    const auto inner = torch::matmul(splitHeads(wq(x), m_relations),
                                     splitHeads(wk(x), m_relations).transpose(2, 3));
    const HookedModule hooks(hook);
    const bool sharp = m_sharpness > 0;
    const auto r = hookedRelationMaps(hooks, sharp ? "sigmoid" : "identity",
                                      sharp ? inner * m_sharpness : inner, 0);  // [b, r, n, n]
    if (auto* recorder = activeRecorder()) recorder->relations(path, r.permute({0, 2, 3, 1}));
    return r;
}

PairRelationsImpl::PairRelationsImpl(const Options& o) : ModelWith(o) {
    relation = register_module("relation", PairwiseRelations(o, false));
}

torch::Tensor PairRelationsImpl::outputs(const torch::Tensor& input) {
    return relation(input).select(3, 1).select(2, 0);  // [b, r]: of the first to the second
}

FixedRelationAbstractorImpl::FixedRelationAbstractorImpl(const Options& o) : ModelWith(o) {
    relation = register_module("relation", PairwiseRelations(o, true));
    for (auto& weight : relation->parameters()) weight.set_requires_grad(false);
    symbols = register_parameter("symbols", newNormal({o.n_objects, o.symbolDim()}), false);
    layers = register_module("layers", Mlp(o.widths()));
    layers->hook = "mlp";
}

torch::Tensor FixedRelationAbstractorImpl::outputs(const torch::Tensor& input) {
    const auto r = relation(input);  // [b, r, n, n]
    auto sent = symbols;
    if (const HookedModule hooks("abstractor"); hooks)
        sent = hooks("hook_symbols", axes::stream,
                     symbols.unsqueeze(0).expand({input.size(0), symbols.size(0), symbols.size(1)}))
                   .unsqueeze(1);
    const auto messages = torch::matmul(r, sent);        // [b, r, n, symbol_dim]
    const auto e = messages.transpose(1, 2).flatten(2);  // [b, n, r * symbol_dim]
    return layers(e.flatten(1));
}

namespace {

const auto pairs = RegisterModel::of<PairRelationsImpl>("PairRelations", initGlorot);
const auto fixed =
    RegisterModel::of<FixedRelationAbstractorImpl>("FixedRelationAbstractor", initGlorot);

}  // namespace
}  // namespace relascope::core
