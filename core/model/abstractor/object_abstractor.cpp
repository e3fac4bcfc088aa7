// SPDX-License-Identifier: GPL-3.0-or-later
// The Abstractor of the sorting models on a set of objects: learns a relation on pairs, for
// initialising a sorting model (ABS 4.4).
#include "model/abstractor/abstractor.h"
#include "model/factory.h"
#include "model/seq2seq/seq2seq.h"

namespace relascope::core {
namespace {

/// embedder, Abstractor (the same module, under the same names, as in Seq2SeqAbstractor),
/// flattened, one hidden relu layer, outputs.
struct ObjectAbstractorImpl : ModelWith<ObjectAbstractorOptions> {
    explicit ObjectAbstractorImpl(const Options& o) : ModelWith(o) {
        source_embedder =
            register_module("source_embedder", SequenceEmbedder("vector", o.object_dim, o.d_model));
        abstractor = register_module("abstractor", Abstractor(o, o.n_objects, o.n_objects));
        hidden = register_module("hidden", Linear(o.n_objects * o.d_model, o.hidden));
        final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
    }
    torch::Tensor outputs(const torch::Tensor& objects) override {
        // With positions (x sqrt(d) + pe), as in the sorting models.
        const auto x = m_positions.addedTo(
            HookedModule("")("hook_embed", axes::stream, source_embedder(objects)));  // [b, n, d]
        const auto a = abstractor(x);                                                 // [b, n, d]
        return final_out(torch::relu(hidden(a.flatten(1))));  // [b, out_dim]
    }

    SequenceEmbedder source_embedder{nullptr};
    Abstractor abstractor{nullptr};
    Linear hidden{nullptr}, final_out{nullptr};

private:
    HalvedPositions m_positions;
};

const auto model = RegisterModel::of<ObjectAbstractorImpl>("ObjectAbstractor", initGlorot);

}  // namespace
}  // namespace relascope::core
