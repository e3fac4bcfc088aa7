// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of `AbstractorModel`, the Abstractor for images of DAT's Relational Games.
#include "model/abstractor/abstractor_options.h"
#include "model/baselines/patch_info.h"
#include "model/blocks/block_info.h"

namespace relascope::core {
namespace {

using Options = ImageAbstractorOptions;

FieldTable<Options> modelFields() {
    using namespace fields;
    return withGroups<Options>(
        {{make(blockSpec("n_heads_sa"), &Options::n_heads_sa),
          make(blockSpec("dff"), &Options::dff),
          make(blockSpec("dropout_rate"), &Options::dropout_rate),
          make(blockSpec("activation"), &Options::activation),
          make(blockSpec("norm_first"), &Options::norm_first)},
         symbols<Options>({"positional_symbols", "symbolic_attention"}, patchesOf<Options>),
         {selfAttention(&Options::use_self_attn)}});
}

void problems(const Options& o, ProblemList& list) {
    if (!list.empty()) return;
    list.divides("n_heads_sa", o.n_heads_sa, o.d_model);
    if (o.symbol_retrieval != "positional_symbols" && o.symbol_retrieval != "symbolic_attention")
        list.refuse("symbol_retrieval",
                    "this model supports positional_symbols or symbolic_attention");
    list.symbols(o, o.d_model, o.patches());
}

void shapes(const Options& o, ShapeList& list) {
    const std::int64_t d = o.d_model;
    addPatchEmbedderShapes(list, o, d);
    addSymbolShapes(list, "abstractor.symbol_retriever", o, d, o.patches());
    for (std::int64_t i = 0; i < o.n_layers; ++i) {
        const std::string layer = "abstractor.abstractor_layers." + std::to_string(i);
        const auto attention = [&](const char* name) {
            for (const char* part : {"wq", "wk", "wv", "wo"})
                list.linear(layer + "." + name + "." + part, d, d, part == std::string("wo"));
        };
        if (o.use_self_attn) attention("self_attn");
        list.norm(layer + ".norm1", d);
        attention("rel_attn");
        list.norm(layer + ".norm2", d);
        list.feedForward(layer + ".ff_block", d, o.dff, o.activation, true);
    }
    list.mlp("mlp_predictor", {d, d, o.num_classes});
}

void outline(const Options& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "patch_embedder", patchText(o));
    const std::string heads = countText(o.n_heads_sa, "head");
    if (auto* abstractor =
            builder.add("abstractor", "abstractor", countText(o.n_layers, "layer"))) {
        builder.add(*abstractor, "symbols", "symbol_retriever", symbolText(o, o.patches()));
        for (std::int64_t i = 0; i < o.n_layers; ++i) {
            auto* layer = builder.add(*abstractor, "layer " + std::to_string(i + 1),
                                      "abstractor_layers." + std::to_string(i));
            if (!layer) continue;
            builder.add(*layer, "self-attention", "self_attn", heads);
            builder.add(*layer, "relational cross-attention", "rel_attn", heads);
            builder.add(*layer, "feed-forward", "ff_block", feedForwardText(o.activation, o.dff));
            for (const char* norm : {"norm1", "norm2", "norm3"})
                builder.add(*layer, norm, norm, "layernorm");
        }
    }
    builder.add("predictor", "mlp_predictor", std::to_string(o.num_classes) + " classes");
}

void readConfig(Options& o, JsonArguments& a) {
    o.dff = 0;
    a.require({"image_shape", "patch_size", "d_model"});
    a.read("image_shape", o.image_shape, 3);
    a.read("patch_size", o.patch_size, 2);
    a.read("d_model", o.d_model);
    a.read("num_classes", o.num_classes);
    auto k = a.sub("abstractor_kwargs");
    k.require({"n_layers", "n_heads", "dff", "symbol_retriever_type"});
    std::string symbols;
    k.read("n_layers", o.n_layers);
    k.read("n_heads", o.n_heads_sa);
    k.read("dff", o.dff);
    k.read("use_self_attn", o.use_self_attn);
    k.read("dropout_rate", o.dropout_rate);
    k.read("activation", o.activation);
    k.read("norm_first", o.norm_first);
    k.read("symbol_retriever_type", symbols);
    k.neutral("symbol_add_pos_embedding", false);
    k.has("max_len");
    o.symbol_retrieval = symbols == "positional" ? "positional_symbols"
                         : symbols == "symbolic" ? "symbolic_attention"
                                                 : symbols;
    readSymbolsConfig(o, o.d_model, k.sub("symbol_retriever_kwargs"));
    k.done();
}

ConfigJson writeConfig(const Options& o) {
    return {{"image_shape", o.image_shape},
            {"patch_size", o.patch_size},
            {"d_model", o.d_model},
            {"num_classes", o.num_classes},
            {"abstractor_kwargs",
             {{"n_layers", o.n_layers},
              {"n_heads", o.n_heads_sa},
              {"dff", o.dff},
              {"use_self_attn", o.use_self_attn},
              {"dropout_rate", o.dropout_rate},
              {"activation", o.activation},
              {"norm_first", o.norm_first},
              {"symbol_retriever_type",
               o.symbol_retrieval == "positional_symbols" ? "positional" : o.symbol_retrieval},
              {"symbol_retriever_kwargs", symbolsConfig(o, o.d_model, o.patches())},
              {"symbol_add_pos_embedding", false},
              {"max_len", o.patches()}}}};
}

const RegisterArchitecture model([] {
    Architecture<Options> a;
    a.name = "AbstractorModel";
    a.title = "Abstractor for images";
    a.order = 30;
    a.fields = modelFields();
    a.problems = problems;
    a.text = [](const Options& o) {
        return "Abstractor " + std::to_string(o.n_heads_sa) + " heads";
    };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = [](const Options& o) {
        return layersOf("abstractor.abstractor_layers.", o.n_layers, "abstractor");
    };
    a.symbolLayer = [](const Options&, const std::string& retriever, int) {
        return retriever.substr(0, retriever.rfind(".symbol_retriever")) + ".abstractor_layers.0";
    };
    a.work = [](const Options& o) {
        return WorkEstimate{.layers = o.n_layers,
                            .d_model = o.d_model,
                            .dff = feedForwardWidth(o.d_model, o.dff, o.activation),
                            .heads = 2 * o.n_heads_sa};
    };
    a.readConfig = readConfig;
    a.writeConfig = writeConfig;
    return a;
}());

}  // namespace
}  // namespace relascope::core
