// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the baselines over sets of objects (ABS 4.1, 4.5).
#include "model/baselines/baseline_options.h"
#include "model/blocks/block_info.h"
#include "model/problem_list.h"

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

template <class Options>
Architecture<Options> objectBaseline() {
    Architecture<Options> a;
    a.tokens = [](const Options& o) { return o.n_objects; };
    a.outputs = [](const Options& o) { return o.out_dim; };
    return a;
}

std::string objectText(const ObjectInput& o) {
    return countText(o.n_objects, "object") + " of " + std::to_string(o.object_dim) + " numbers";
}

void addHiddenOutline(OutlineBuilder& builder, std::int64_t hidden, std::int64_t outputs) {
    builder.add("hidden layer", "hidden", std::to_string(hidden) + " wide, relu");
    builder.add("output", "final_out", countText(outputs, "score"));
}

void addHiddenShapes(ShapeList& list, std::int64_t in, std::int64_t hidden, std::int64_t outputs) {
    list.linear("hidden", in, hidden);
    list.linear("final_out", hidden, outputs);
}

WorkEstimate setWork(const ObjectInput& o, std::int64_t d, std::int64_t dff, std::int64_t heads) {
    WorkEstimate work;
    work.d_model = d;
    work.dff = dff;
    work.heads = heads;
    work.tokenNumbers = o.object_dim + o.out_dim;
    return work;
}

const RegisterArchitecture coRelNet([] {
    using Options = ObjectCoRelNetOptions;
    using namespace fields;
    auto a = objectBaseline<Options>();
    a.name = "ObjectCoRelNet";
    a.title = "CoRelNet over objects";
    a.order = 140;
    a.constructed.symmetric_rels = false;
    a.fields = joined<Options>(
        {of<Options>(stream()),
         {symmetric(&Options::symmetric_rels),
          keyWidth<Options>(&Options::key_dim, [](const Options& o) { return o.d_model; }),
          boolean(&Options::relation_softmax, "relation_softmax", "Softmax",
                  "Applies a softmax to each row of the relation matrix."),
          hiddenWidth(&Options::hidden)},
         of<Options>(objectInput())});
    a.problems = [](const Options& o) {
        ProblemList list;
        list.atLeast("d_model", o.d_model, 1);
        list.objects(o);
        return list.take();
    };
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
        addHiddenShapes(list, o.n_objects * o.n_objects, o.hidden, o.out_dim);
    };
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        builder.add("object embedding", "embedder", objectText(o));
        builder.add("relation queries", "wq", o.symmetric_rels ? "symmetric" : "");
        builder.add("relation keys", "wk");
        addHiddenOutline(builder, o.hidden, o.out_dim);
    };
    a.layers = [](const Options&) {
        return std::vector<LayerPlace>{{"relation", {"relations", kSourceSide, kSourceSide}}};
    };
    a.work = [](const Options& o) { return setWork(o, o.d_model, o.hidden, 1); };
    return a;
}());

const RegisterArchitecture predinet([] {
    using Options = ObjectPrediNetOptions;
    using namespace fields;
    auto a = objectBaseline<Options>();
    a.name = "ObjectPrediNet";
    a.title = "PrediNet over objects";
    a.order = 150;
    a.fields = joined<Options>(
        {{heads(&Options::n_heads_sa), relations(&Options::n_relations),
          keyWidth<Options>(&Options::key_dim, [](const Options& o) { return o.object_dim; }),
          hiddenWidth(&Options::hidden)},
         of<Options>(objectInput())});
    a.problems = [](const Options& o) {
        ProblemList list;
        list.objects(o);
        if (!list.empty()) return list.take();
        list.atLeast("n_heads_sa", o.n_heads_sa, 1);
        list.atLeast("n_relations", o.n_relations, 1);
        return list.take();
    };
    a.text = [](const Options& o) { return "PrediNet " + std::to_string(o.n_heads_sa) + " heads"; };
    a.shapes = [](const Options& o, ShapeList& list) {
        const std::int64_t queries = o.n_heads_sa * o.keyDim(), all = o.n_objects * o.object_dim;
        list.linear("predinet.W_k", o.object_dim, o.keyDim(), false);
        list.linear("predinet.W_q1", all, queries, false);
        list.linear("predinet.W_q2", all, queries, false);
        list.linear("predinet.W_s", o.object_dim, o.n_relations, false);
        addHiddenShapes(list, o.n_heads_sa * o.n_relations, o.hidden, o.out_dim);
    };
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        builder.add("PrediNet heads", "predinet",
                    countText(o.n_heads_sa, "head") + ", " + countText(o.n_relations, "relation"));
        addHiddenOutline(builder, o.hidden, o.out_dim);
    };
    a.layers = [](const Options&) {
        return std::vector<LayerPlace>{{"predinet", {"selection", kFurtherSide, kSourceSide}}};
    };
    a.furtherSides = {{"selection", {"E1", "E2"}}};
    a.work = [](const Options& o) { return setWork(o, o.object_dim, o.hidden, 1); };
    return a;
}());

const RegisterArchitecture transformer([] {
    using Options = ObjectTransformerOptions;
    using namespace fields;
    auto a = objectBaseline<Options>();
    a.name = "ObjectTransformer";
    a.title = "Transformer over objects";
    a.order = 160;
    setConstructorDefaults(a.constructed, false);
    a.constructed.dropout_rate = 0.0;
    auto names = kPlainBlock;
    names.insert(names.end(), kPlainHeads.begin(), kPlainHeads.end());
    a.fields = joined<Options>({of<Options>(depth()),
                                of<Options>(stream()),
                                block<Options>(plainBlock(names), false),
                                {hiddenWidth(&Options::hidden)},
                                of<Options>(objectInput())});
    a.problems = [](const Options& o) {
        ProblemList list;
        list.atLeast("d_model", o.d_model, 1);
        list.atLeast("n_layers", o.n_layers, 1);
        list.objects(o);
        if (!list.empty()) return list.take();
        list.add(o.BlockOptions::problems(o.d_model, false, o.rope));
        return list.take();
    };
    a.text = [](const Options& o) {
        return "Transformer " + std::to_string(o.n_heads_sa) + " heads";
    };
    a.shapes = [](const Options& o, ShapeList& list) {
        list.linear("embedder", o.object_dim, o.d_model);
        addBlockShapes(list, "encoder_blocks", o.n_layers, stackOf(o));
        addHiddenShapes(list, o.n_objects * o.d_model, o.hidden, o.out_dim);
    };
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        builder.add("object embedding", "embedder", objectText(o));
        addBlockOutline(builder, "encoder", "encoder_blocks", o.n_layers, stackOf(o));
        addHiddenOutline(builder, o.hidden, o.out_dim);
    };
    a.layers = [](const Options& o) {
        std::vector<LayerPlace> places;
        addLayers(places, "encoder_blocks.", o.n_layers, "layer");
        return places;
    };
    a.work = [](const Options& o) {
        auto work = blockWork(stackOf(o), o.n_layers, nullptr);
        work.tokenNumbers = o.object_dim + o.out_dim;
        return work;
    };
    return a;
}());

Architecture<MlpOptions> mlp(const char* name, const char* title, int order) {
    using Options = MlpOptions;
    using namespace fields;
    auto a = objectBaseline<Options>();
    a.name = name;
    a.title = title;
    a.order = order;
    a.fields =
        joined<Options>({{hiddenLayers(&Options::hidden_layers)}, of<Options>(objectInput())});
    a.problems = [](const Options& o) {
        ProblemList list;
        list.objects(o);
        return list.take();
    };
    a.shapes = [](const Options& o, ShapeList& list) { list.mlp("layers", o.widths()); };
    a.outline = [](const Options&, OutlineBuilder& builder) {
        builder.add("layers", "layers", "relu");
    };
    a.work = [](const Options& o) { return setWork(o, o.object_dim, 0, 0); };
    return a;
}

const RegisterArchitecture objectMlp([] {
    auto a = mlp("ObjectMLP", "MLP over objects", 220);
    a.text = [](const MlpOptions&) { return std::string("MLP"); };
    return a;
}());

// The same on the twelve bits for the equal attributes of three cards.
const RegisterArchitecture symbolicMlp([] {
    auto a = mlp("SymbolicMLP", "Symbolic MLP", 230);
    a.text = [](const MlpOptions&) { return std::string("Symbolic MLP"); };
    return a;
}());

}  // namespace
}  // namespace relascope::core
