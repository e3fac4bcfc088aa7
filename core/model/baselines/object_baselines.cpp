// SPDX-License-Identifier: GPL-3.0-or-later
// Baselines on sets of objects [b, n, dim]: CoRelNet, PrediNet, a Transformer, an MLP and, for SET,
// the symbolic MLP (ABS 4.1, 4.5).
#include "model/abstractor/abstractor.h"
#include "model/baselines/baseline_options.h"
#include "model/baselines/relational_baselines.h"
#include "model/blocks/dual_attention.h"
#include "model/model.h"

namespace relascope::core {
namespace {

/// embedder, R = softmax(<wq x_i, wk x_j>) (symmetric: one projection), flattened, one hidden relu
/// layer, outputs.
struct ObjectCoRelNetImpl : ModelWith<ObjectCoRelNetOptions> {
    explicit ObjectCoRelNetImpl(const Options& o) : ModelWith(o) {
        embedder = register_module("embedder", Linear(o.object_dim, o.d_model));
        wq = register_module("wq", Linear(o.d_model, o.keyDim(), false));
        wk = register_module("wk", o.symmetric_rels ? wq : Linear(o.d_model, o.keyDim(), false));
        relation = register_module("relation", Similarity(o.relation_softmax));
        hidden = register_module("hidden", Linear(o.n_objects * o.n_objects, o.hidden));
        final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
    }
    torch::Tensor outputs(const torch::Tensor& objects) override {
        const auto x =
            HookedModule("")("hook_embed", axes::stream, embedder(objects));  // [b, n, d]
        const auto r = relation(wq(x), wk(x));                                // [b, n, n]
        return final_out(torch::relu(hidden(r.flatten(1))));                  // [b, out_dim]
    }

    Linear embedder{nullptr}, wq{nullptr}, wk{nullptr}, hidden{nullptr}, final_out{nullptr};
    Similarity relation{nullptr};
};

/// PrediNet's heads on the objects themselves, without position tags; hidden relu layer, outputs.
struct ObjectPrediNetImpl : ModelWith<ObjectPrediNetOptions> {
    explicit ObjectPrediNetImpl(const Options& o) : ModelWith(o) {
        predinet =
            register_module("predinet", PrediNetHeads(o.n_objects, o.object_dim, o.n_heads_sa,
                                                      o.n_relations, o.keyDim(), false));
        hidden = register_module("hidden", Linear(o.n_heads_sa * o.n_relations, o.hidden));
        final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
    }
    torch::Tensor outputs(const torch::Tensor& objects) override {
        return final_out(torch::relu(hidden(predinet(objects))));
    }

    PrediNetHeads predinet{nullptr};
    Linear hidden{nullptr}, final_out{nullptr};
};

/// embedder, encoder blocks, flattened, hidden relu layer, outputs.
struct ObjectTransformerImpl : ModelWith<ObjectTransformerOptions> {
    explicit ObjectTransformerImpl(const Options& o) : ModelWith(o) {
        embedder = register_module("embedder", Linear(o.object_dim, o.d_model));
        for (std::int64_t i = 0; i < o.n_layers; ++i)
            encoder_blocks->push_back(EncoderBlock(stackOf(o)));
        register_module("encoder_blocks", encoder_blocks);
        hidden = register_module("hidden", Linear(o.n_objects * o.d_model, o.hidden));
        final_out = register_module("final_out", Linear(o.hidden, o.out_dim));
    }
    torch::Tensor outputs(const torch::Tensor& objects) override {
        auto x = HookedModule("")("hook_embed", axes::stream, embedder(objects));  // [b, n, d]
        for (const auto& block : *encoder_blocks) x = block->as<EncoderBlockImpl>()->forward(x);
        return final_out(torch::relu(hidden(x.flatten(1))));
    }

    Linear embedder{nullptr}, hidden{nullptr}, final_out{nullptr};
    torch::nn::ModuleList encoder_blocks;
};

/// The objects flattened through relu layers (`layers.0`, `layers.2`, ...). `SymbolicMLP` is the
/// same on the relation bits of SET: 3 pairs of cards as objects, 4 attributes each.
struct ObjectMlpImpl : ModelWith<MlpOptions> {
    explicit ObjectMlpImpl(const Options& o) : ModelWith(o) {
        layers = register_module("layers", Mlp(o.widths()));
        layers->hook = "mlp";
    }
    torch::Tensor outputs(const torch::Tensor& objects) override {
        return layers(objects.flatten(1));
    }

    Mlp layers{nullptr};
};

const auto coRelNet = RegisterModel::of<ObjectCoRelNetImpl>("ObjectCoRelNet", initGlorot);
const auto objectPrediNet = RegisterModel::of<ObjectPrediNetImpl>("ObjectPrediNet", initGlorot);
const auto transformer = RegisterModel::of<ObjectTransformerImpl>("ObjectTransformer", initGlorot);
const auto mlp = RegisterModel::of<ObjectMlpImpl>("ObjectMLP", initGlorot);
const auto symbolic = RegisterModel::of<ObjectMlpImpl>("SymbolicMLP", initGlorot);

}  // namespace
}  // namespace relascope::core
