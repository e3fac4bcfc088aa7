// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the message-passing Abstractor (ABS 4.1, 4.5).
#include "model/abstractor/abstractor_options.h"
#include "model/blocks/block_info.h"

namespace relascope::core {
namespace {

using Options = MessagePassingOptions;

FieldTable<Options> modelFields() {
    using namespace fields;
    auto heads = make(blockSpec("n_heads_sa"), &Options::n_heads_sa);
    heads.applies = [](const Options& o) { return o.use_self_attn; };
    return withGroups<Options>(
        {{heads, relations(&Options::n_relations), symmetric(&Options::symmetric_rels),
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
          hiddenWidth(&Options::hidden)}});
}

void problems(const Options& o, ProblemList& list) {
    if (!list.empty()) return;
    list.atLeast("n_relations", o.n_relations, 1);
    list.atLeast("rel_proj_dim", o.rel_proj_dim, 1);
    list.atLeast("hidden", o.hidden, 1);
    if (o.n_relations > 0 && o.d_model % o.n_relations != 0)
        list.refuse("n_relations", std::to_string(o.n_relations) + " does not divide the width " +
                                       std::to_string(o.d_model));
    if (o.use_self_attn) list.divides("n_heads_sa", o.n_heads_sa, o.d_model);
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
    list.hidden(o.n_objects * d, o.hidden, o.out_dim);
}

void outline(const Options& o, OutlineBuilder& builder) {
    builder.add("object embedding", "embedder", objectText(o));
    builder.add("learned symbols", "symbols", std::to_string(o.n_objects) + " rows");
    if (auto* node = builder.add("message passing", "layers", countText(o.n_layers, "layer")))
        for (std::int64_t i = 0; i < o.n_layers; ++i)
            builder.add(*node, "layer " + std::to_string(i + 1), std::to_string(i),
                        countText(o.n_relations, "relation") + " of " +
                            std::to_string(o.rel_proj_dim) + ", " + o.rel_activation +
                            (o.symmetric_rels ? ", symmetric" : ""));
    addHiddenOutline(builder, o.hidden, o.out_dim);
}

std::vector<LayerPlace> layers(const Options& o) {
    std::vector<LayerPlace> places;
    addLayers(places, "layers.", o.n_layers, "abstractor");
    for (auto& place : places) place.relational = true;
    return places;
}

// The arguments of the published constructor, in its order.
template <class OptionsOrConst, class Flag, class At>
void arguments(OptionsOrConst& o, Flag& norm, At at) {
    at("n_objects", o.n_objects);
    at("dim", o.object_dim);
    at("d_model", o.d_model);
    at("n_layers", o.n_layers);
    at("n_relations", o.n_relations);
    at("proj_dim", o.rel_proj_dim);
    at("symmetric", o.symmetric_rels);
    at("sigma", o.rel_activation);
    at("softmax", o.message_softmax);
    at("symbol_dim", o.symbol_dim);
    at("dff", o.dff);
    at("use_self_attn", o.use_self_attn);
    at("use_norm", norm);
    at("n_heads", o.n_heads_sa);
    at("key_dim", o.key_dim);
    at("dropout_rate", o.dropout_rate);
    at("hidden", o.hidden);
    at("out_dim", o.out_dim);
}

void readConfig(Options& o, JsonArguments& a) {
    a.require({"n_objects", "dim", "d_model", "n_layers", "n_relations", "proj_dim", "dff",
               "hidden", "out_dim"});
    bool norm = false;
    o.symmetric_rels = false;
    o.rel_activation = "sigmoid";
    o.use_self_attn = false;
    o.dropout_rate = 0.0;
    a.read("n_relations", o.n_relations);
    o.n_heads_sa = o.n_relations;  // the default for self-attention
    arguments(o, norm, [&a](const char* key, auto& value) { a.read(key, value); });
    o.abs_norm = norm ? "layernorm" : "none";
    if (o.rel_activation == "linear") o.rel_activation = "identity";
}

ConfigJson writeConfig(const Options& o) {
    ConfigJson a;
    const bool norm = o.abs_norm != "none";
    arguments(o, norm, [&a](const char* key, const auto& value) { a[key] = value; });
    a["symbol_dim"] = o.symbolDim();
    a["key_dim"] = orNull(o.key_dim);
    return a;
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
    a.shapes = shapes;
    a.outline = outline;
    a.layers = layers;
    a.work = [](const Options& o) {
        return WorkEstimate{.layers = o.n_layers,
                            .d_model = o.d_model,
                            .dff = feedForwardWidth(o.d_model, o.dff, "relu"),
                            .heads = o.n_relations + (o.use_self_attn ? o.n_heads_sa : 0)};
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
