// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the message-passing Abstractor (ABS 4.1, 4.5).
#include "model/abstractor/abstractor_options.h"
#include "model/blocks/block_info.h"
#include "model/problem_list.h"

namespace relascope::core {
namespace {

using Options = MessagePassingOptions;

FieldTable<Options> modelFields() {
    using namespace fields;
    auto heads = make(blockSpec("n_heads_sa"), &Options::n_heads_sa);
    heads.applies = [](const Options& o) { return o.use_self_attn; };
    return joined<Options>(
        {of<Options>(depth()),
         of<Options>(stream()),
         {heads, relations(&Options::n_relations), symmetric(&Options::symmetric_rels),
          make(blockSpec("dff"), &Options::dff),
          make(blockSpec("dropout_rate"), &Options::dropout_rate),
          make(blockSpec("rel_activation"), &Options::rel_activation),
          relationWidth(&Options::rel_proj_dim), selfAttention(&Options::use_self_attn),
          abstractorNorm(&Options::abs_norm),
          advanced(when<Options>([](const Options& o) { return o.use_self_attn; },
                                 automatic(integer(&Options::key_dim, "key_dim", "Key width",
                                                   "Width of the queries, keys and values of each "
                                                   "head of the self-attention; 0 means that of "
                                                   "the relations.",
                                                   0, 65536),
                                           [](const Options& o) { return o.rel_proj_dim; }))),
          symbolWidth<Options>(&Options::symbol_dim, [](const Options& o) { return o.d_model; }),
          advanced(boolean(&Options::message_softmax, "message_softmax", "Softmax over senders",
                           "Applies a softmax over the relations of each receiver before the "
                           "messages are summed.")),
          hiddenWidth(&Options::hidden)},
         of<Options>(objectInput())});
}

std::vector<FieldProblem> problems(const Options& o) {
    ProblemList list;
    list.atLeast("d_model", o.d_model, 1);
    list.atLeast("n_layers", o.n_layers, 1);
    list.objects(o);
    if (!list.empty()) return list.take();
    list.atLeast("n_relations", o.n_relations, 1);
    list.atLeast("rel_proj_dim", o.rel_proj_dim, 1);
    list.atLeast("hidden", o.hidden, 1);
    if (o.n_relations > 0 && o.d_model % o.n_relations != 0)
        list.refuse("n_relations", std::to_string(o.n_relations) + " does not divide the width " +
                                       std::to_string(o.d_model));
    if (o.use_self_attn) list.divides("n_heads_sa", o.n_heads_sa, o.d_model);
    return list.take();
}

void shapes(const Options& o, ShapeList& list) {
    const std::int64_t d = o.d_model, width = o.n_relations * o.rel_proj_dim;
    list.parameter("symbols", {o.n_objects, o.symbolDim()});
    list.linear("embedder", o.object_dim, d);
    for (std::int64_t i = 0; i < o.n_layers; ++i) {
        const std::string layer = "layers." + std::to_string(i);
        list.linear(layer + ".wq", d, width, false);
        if (o.symmetric_rels)
            list.aliasOfLinear(layer + ".wk", layer + ".wq", false);
        else
            list.linear(layer + ".wk", d, width, false);
        for (std::int64_t r = 0; r < o.n_relations; ++r)
            list.linear(layer + ".values." + std::to_string(r), i == 0 ? o.symbolDim() : d,
                        d / o.n_relations);
        list.feedForward(layer + ".ff_block", d, o.dff, "relu", true);
        list.norm(layer + ".norm1", d);
        if (o.abs_norm != "none") list.norm(layer + ".norm2", d, o.abs_norm);
        if (!o.use_self_attn) continue;
        for (const char* part : {"wq", "wk", "wv"})
            list.linear(layer + ".self_attn." + part, d, o.n_heads_sa * o.keyDim());
        list.linear(layer + ".self_attn.wo", o.n_heads_sa * o.keyDim(), d);
        list.norm(layer + ".norm3", d);
    }
    list.linear("hidden", o.n_objects * d, o.hidden);
    list.linear("final_out", o.hidden, o.out_dim);
}

void outline(const Options& o, OutlineBuilder& builder) {
    builder.add(
        "object embedding", "embedder",
        countText(o.n_objects, "object") + " of " + std::to_string(o.object_dim) + " numbers");
    builder.add("learned symbols", "symbols", std::to_string(o.n_objects) + " rows");
    if (auto* node = builder.add("message passing", "layers", countText(o.n_layers, "layer")))
        for (std::int64_t i = 0; i < o.n_layers; ++i)
            builder.add(*node, "layer " + std::to_string(i + 1), std::to_string(i),
                        countText(o.n_relations, "relation") + " of " +
                            std::to_string(o.rel_proj_dim) + ", " + o.rel_activation +
                            (o.symmetric_rels ? ", symmetric" : ""));
    builder.add("hidden layer", "hidden", std::to_string(o.hidden) + " wide, relu");
    builder.add("output", "final_out", countText(o.out_dim, "score"));
}

std::vector<LayerPlace> layers(const Options& o) {
    std::vector<LayerPlace> places;
    addLayers(places, "layers.", o.n_layers, "abstractor");
    for (auto& place : places) place.relational = true;
    return places;
}

void readConfig(Options& o, JsonArguments& a) {
    a.require({"n_objects", "dim", "d_model", "n_layers", "n_relations", "proj_dim", "dff",
               "hidden", "out_dim"});
    bool norm = false;
    o.symmetric_rels = false;
    o.rel_activation = "sigmoid";
    o.use_self_attn = false;
    o.dropout_rate = 0.0;
    a.read("n_objects", o.n_objects);
    a.read("dim", o.object_dim);
    a.read("d_model", o.d_model);
    a.read("n_layers", o.n_layers);
    a.read("n_relations", o.n_relations);
    a.read("proj_dim", o.rel_proj_dim);
    a.read("symmetric", o.symmetric_rels);
    a.read("sigma", o.rel_activation);
    a.read("softmax", o.message_softmax);
    a.read("symbol_dim", o.symbol_dim);
    a.read("dff", o.dff);
    a.read("use_self_attn", o.use_self_attn);
    a.read("use_norm", norm);
    o.n_heads_sa = o.n_relations;  // of the self-attention, where nothing else is said
    a.read("n_heads", o.n_heads_sa);
    a.read("key_dim", o.key_dim);
    a.read("dropout_rate", o.dropout_rate);
    a.read("hidden", o.hidden);
    a.read("out_dim", o.out_dim);
    o.abs_norm = norm ? "layernorm" : "none";
    if (o.rel_activation == "linear") o.rel_activation = "identity";
}

ConfigJson writeConfig(const Options& o) {
    return {{"n_objects", o.n_objects},
            {"dim", o.object_dim},
            {"d_model", o.d_model},
            {"n_layers", o.n_layers},
            {"n_relations", o.n_relations},
            {"proj_dim", o.rel_proj_dim},
            {"symmetric", o.symmetric_rels},
            {"sigma", o.rel_activation},
            {"softmax", o.message_softmax},
            {"symbol_dim", o.symbolDim()},
            {"dff", o.dff},
            {"use_self_attn", o.use_self_attn},
            {"use_norm", o.abs_norm != "none"},
            {"n_heads", o.n_heads_sa},
            {"key_dim", orNull(o.key_dim)},
            {"dropout_rate", o.dropout_rate},
            {"hidden", o.hidden},
            {"out_dim", o.out_dim}};
}

const RegisterArchitecture model([] {
    Architecture<Options> a;
    a.name = "MessagePassingAbstractor";
    a.title = "Message-passing Abstractor";
    a.order = 120;
    a.fields = modelFields();
    a.problems = problems;
    a.text = [](const Options& o) {
        return "Abstractor " + std::to_string(o.n_relations) + " relations";
    };
    a.tokens = [](const Options& o) { return o.n_objects; };
    a.outputs = [](const Options& o) { return o.out_dim; };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = layers;
    a.work = [](const Options& o) {
        WorkEstimate work;
        work.layers = o.n_layers;
        work.d_model = o.d_model;
        work.dff = feedForwardWidth(o.d_model, o.dff, "relu");
        work.heads = o.n_relations + (o.use_self_attn ? o.n_heads_sa : 0);
        work.tokenNumbers = o.object_dim + o.out_dim;
        return work;
    };
    a.readConfig = readConfig;
    a.writeConfig = writeConfig;
    // The configuration does not contain the key width of the self-attention.
    a.readTensors = [](Options& o, const auto& shape) {
        const auto wq = shape("layers.0.self_attn.wq.weight");
        if (o.use_self_attn && o.key_dim == 0 && o.n_heads_sa > 0 && wq.size() == 2)
            o.key_dim = wq[0] / o.n_heads_sa;
    };
    return a;
}());

}  // namespace
}  // namespace relascope::core
