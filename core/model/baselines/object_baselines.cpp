// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/baselines/object_baselines.h"

#include "model/abstractor/message_passing.h"
#include "model/factory.h"

namespace relascope::core {

ObjectCoRelNetImpl::ObjectCoRelNetImpl(const ObjectCoRelNetOptions& o) : m_options(o) {
    embedder = register_module("embedder", Linear(o.object_dim, o.d_model));
    wq = register_module("wq", Linear(o.d_model, o.keyDim(), false));
    wk = register_module("wk", o.symmetric_rels ? wq : Linear(o.d_model, o.keyDim(), false));
    relation = register_module("relation", Similarity(o.relation_softmax));
    hidden = register_module("hidden", Linear(o.n_objects * o.n_objects, o.hidden));
    final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
}

torch::Tensor ObjectCoRelNetImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    const auto x = embedder(input.x);                     // [b, n, d]
    const auto r = relation(wq(x), wk(x));                // [b, n, n]
    return final_out(torch::relu(hidden(r.flatten(1))));  // [b, out_dim]
}

ObjectPrediNetImpl::ObjectPrediNetImpl(const ObjectPrediNetOptions& o) : m_options(o) {
    predinet = register_module("predinet", PrediNetHeads(o.n_objects, o.object_dim, o.n_heads_sa,
                                                         o.n_relations, o.keyDim(), false));
    hidden = register_module("hidden", Linear(o.n_heads_sa * o.n_relations, o.hidden));
    final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
}

torch::Tensor ObjectPrediNetImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    return final_out(torch::relu(hidden(predinet(input.x))));
}

ObjectTransformerImpl::ObjectTransformerImpl(const ObjectTransformerOptions& o) : m_options(o) {
    embedder = register_module("embedder", Linear(o.object_dim, o.d_model));
    for (std::int64_t i = 0; i < o.n_layers; ++i)
        encoder_blocks->push_back(EncoderBlock(stackOf(o)));
    register_module("encoder_blocks", encoder_blocks);
    hidden = register_module("hidden", Linear(o.n_objects * o.d_model, o.hidden));
    final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
}

torch::Tensor ObjectTransformerImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    auto x = embedder(input.x);  // [b, n, d]
    for (const auto& block : *encoder_blocks) x = block->as<EncoderBlockImpl>()->forward(x);
    return final_out(torch::relu(hidden(x.flatten(1))));
}

ObjectMlpImpl::ObjectMlpImpl(const MlpOptions& o) : m_options(o) {
    layers = register_module("layers", Mlp(o.widths()));
}

torch::Tensor ObjectMlpImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    return layers(input.x.flatten(1));
}

namespace {

const auto coRelNet =
    RegisterModel::of<ObjectCoRelNetImpl, ObjectCoRelNetOptions>("ObjectCoRelNet", initGlorot);
const auto prediNet =
    RegisterModel::of<ObjectPrediNetImpl, ObjectPrediNetOptions>("ObjectPrediNet", initGlorot);
const auto transformer = RegisterModel::of<ObjectTransformerImpl, ObjectTransformerOptions>(
    "ObjectTransformer", initGlorot);
const auto mlp = RegisterModel::of<ObjectMlpImpl, MlpOptions>("ObjectMLP", initGlorot);
const auto symbolic = RegisterModel::of<ObjectMlpImpl, MlpOptions>("SymbolicMLP", initGlorot);

}  // namespace
}  // namespace relascope::core
