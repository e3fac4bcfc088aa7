// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/abstractor/object_abstractor.h"

#include "model/abstractor/message_passing.h"
#include "model/factory.h"

namespace relascope::core {

ObjectAbstractorImpl::ObjectAbstractorImpl(const ObjectAbstractorOptions& options)
    : m_options(options) {
    const auto& o = options;
    source_embedder =
        register_module("source_embedder", SequenceEmbedder("vector", o.object_dim, o.d_model));
    abstractor = register_module("abstractor", Abstractor(o, o.n_objects, o.n_objects));
    hidden = register_module("hidden", Linear(o.n_objects * o.d_model, o.hidden));
    final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
}

torch::Tensor ObjectAbstractorImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    // With positions (x sqrt(d) + pe), as in the sorting models.
    const auto x = withHalvedPositions(source_embedder(input.x));  // [b, n, d]
    const auto a = abstractor(x);                                  // [b, n, d]
    return final_out(torch::relu(hidden(a.flatten(1))));
}

namespace {

const auto model = RegisterModel::of<ObjectAbstractorImpl, ObjectAbstractorOptions>(
    "ObjectAbstractor", initGlorot);

}  // namespace
}  // namespace relascope::core
