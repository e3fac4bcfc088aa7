// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the baselines over sets of objects (ABS 4.1, 4.5).
#include "model/baselines/baseline_options.h"
#include "model/blocks/block_info.h"

namespace relascope::core {

StackOptions stackOf(const ObjectTransformerOptions& o) {
    StackOptions s;
    s.block = o;
    s.d_model = o.d_model;
    s.rope = o.rope;
    s.feedForwardBias = o.bias;
    return s;
}

namespace {

const RegisterArchitecture coRelNet([] {
    using Options = ObjectCoRelNetOptions;
    using namespace fields;
    Architecture<Options> a;
    a.name = "ObjectCoRelNet";
    a.title = "CoRelNet over objects";
    a.order = 140;
    a.constructed.symmetric_rels = false;
    a.fields = withGroups<Options>(
        {{symmetric(&Options::symmetric_rels),
          keyWidth<Options>(&Options::key_dim, [](const Options& o) { return o.d_model; }),
          boolean(&Options::relation_softmax, "relation_softmax", "Softmax",
                  "Applies a softmax to each row of the relation matrix."),
          hiddenWidth(&Options::hidden)}});
    a.text = [](const Options& o) {
        return std::string(o.symmetric_rels ? "CoRelNet, symmetric" : "CoRelNet, asymmetric");
    };
    a.shapes = [](const Options& o, ShapeList& list) {
        list.linear("embedder", o.object_dim, o.d_model);
        list.linear("wq", o.d_model, o.keyDim(), false);
        if (o.symmetric_rels)
            list.aliasOfLinear("wk", "wq", false);
        else
            list.linear("wk", o.d_model, o.keyDim(), false);
        list.hidden(o.n_objects * o.n_objects, o.hidden, o.out_dim);
    };
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        builder.add("object embedding", "embedder", objectText(o));
        builder.add("relation queries", "wq", o.symmetric_rels ? "symmetric" : "");
        builder.add("relation keys", "wk");
        addHiddenOutline(builder, o.hidden, o.out_dim);
    };
    a.layers = fixedLayers({{"relation", {"relations", kSourceSide, kSourceSide}}});
    a.work = [](const Options& o) {
        return WorkEstimate{.d_model = o.d_model, .dff = o.hidden, .heads = 1};
    };
    return a;
}());

const RegisterArchitecture predinet([] {
    using Options = ObjectPrediNetOptions;
    using namespace fields;
    Architecture<Options> a;
    a.name = "ObjectPrediNet";
    a.title = "PrediNet over objects";
    a.order = 150;
    a.fields = withGroups<Options>(
        {{heads(&Options::n_heads_sa), relations(&Options::n_relations),
          keyWidth<Options>(&Options::key_dim, [](const Options& o) { return o.object_dim; }),
          hiddenWidth(&Options::hidden)}});
    a.problems = [](const Options& o, ProblemList& list) {
        if (!list.empty()) return;
        list.atLeast("n_heads_sa", o.n_heads_sa, 1);
        list.atLeast("n_relations", o.n_relations, 1);
    };
    a.text = [](const Options& o) { return "PrediNet " + std::to_string(o.n_heads_sa) + " heads"; };
    a.shapes = [](const Options& o, ShapeList& list) {
        const std::int64_t queries = o.n_heads_sa * o.keyDim(), all = o.n_objects * o.object_dim;
        list.linear("predinet.W_k", o.object_dim, o.keyDim(), false);
        list.linear("predinet.W_q1", all, queries, false);
        list.linear("predinet.W_q2", all, queries, false);
        list.linear("predinet.W_s", o.object_dim, o.n_relations, false);
        list.hidden(o.n_heads_sa * o.n_relations, o.hidden, o.out_dim);
    };
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        builder.add("PrediNet heads", "predinet",
                    countText(o.n_heads_sa, "head") + ", " + countText(o.n_relations, "relation"));
        addHiddenOutline(builder, o.hidden, o.out_dim);
    };
    a.layers = fixedLayers({{"predinet", {"selection", kFurtherSide, kSourceSide}}});
    a.furtherSides = {{"selection", {"E1", "E2"}}};
    a.work = [](const Options& o) {
        return WorkEstimate{.d_model = o.object_dim, .dff = o.hidden, .heads = 1};
    };
    return a;
}());

const RegisterArchitecture transformer([] {
    using Options = ObjectTransformerOptions;
    using namespace fields;
    Architecture<Options> a;
    a.name = "ObjectTransformer";
    a.title = "Transformer over objects";
    a.order = 160;
    setConstructorDefaults(a.constructed, false);
    a.constructed.dropout_rate = 0.0;
    a.fields = withGroups<Options>(
        {block<Options>(plainBlock(plainHeads()), false), {hiddenWidth(&Options::hidden)}});
    a.problems = [](const Options& o, ProblemList& list) {
        if (!list.empty()) return;
        list.add(o.BlockOptions::problems(o.d_model, false, o.rope));
    };
    a.text = [](const Options& o) {
        return "Transformer " + std::to_string(o.n_heads_sa) + " heads";
    };
    a.shapes = [](const Options& o, ShapeList& list) {
        list.linear("embedder", o.object_dim, o.d_model);
        addBlockShapes(list, "encoder_blocks", o.n_layers, stackOf(o));
        list.hidden(o.n_objects * o.d_model, o.hidden, o.out_dim);
    };
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        builder.add("object embedding", "embedder", objectText(o));
        addBlockOutline(builder, "encoder", "encoder_blocks", o.n_layers, stackOf(o));
        addHiddenOutline(builder, o.hidden, o.out_dim);
    };
    a.layers = [](const Options& o) { return layersOf("encoder_blocks.", o.n_layers, "layer"); };
    a.work = [](const Options& o) { return blockWork(o, stackOf(o), o.n_layers); };
    return a;
}());

Architecture<MlpOptions> mlp(const char* name, const char* title, int order) {
    using Options = MlpOptions;
    using namespace fields;
    Architecture<Options> a;
    a.name = name;
    a.title = title;
    a.order = order;
    a.fields = withGroups<Options>({{hiddenLayers(&Options::hidden_layers)}});
    a.shapes = [](const Options& o, ShapeList& list) { list.mlp("layers", o.widths()); };
    a.outline = [](const Options&, OutlineBuilder& builder) {
        builder.add("layers", "layers", "relu");
    };
    a.work = [](const Options& o) { return WorkEstimate{.d_model = o.object_dim}; };
    return a;
}

const RegisterArchitecture objectMlp([] {
    auto a = mlp("ObjectMLP", "MLP over objects", 220);
    a.text = [](const MlpOptions&) { return std::string("MLP"); };
    return a;
}());

// An MLP on the twelve bits for the equal attributes of three cards.
const RegisterArchitecture symbolicMlp([] {
    auto a = mlp("SymbolicMLP", "Symbolic MLP", 230);
    a.text = [](const MlpOptions&) { return std::string("Symbolic MLP"); };
    return a;
}());

}  // namespace
}  // namespace relascope::core
