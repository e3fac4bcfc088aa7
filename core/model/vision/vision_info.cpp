// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of ViDAT (DAT 4.1, 4.3) and ViT.
#include "model/baselines/patch_info.h"
#include "model/blocks/block_info.h"
#include "model/vision/vision_options.h"

namespace relascope::core {

StackOptions stackOf(const VisionTransformerOptions& o, bool dual) {
    StackOptions s;
    s.block = o;
    s.d_model = o.d_model;
    s.dual = dual;
    s.rope = o.rope;
    s.feedForwardBias = o.bias;
    return s;
}

namespace {

using Plain = VisionTransformerOptions;
using Dual = VisionDualAttnTransformerOptions;

template <class Options>
FieldTable<Options> visionFields() {
    using namespace fields;
    const auto own = FieldTable<Plain>{
        advanced(choice(&Plain::pool, "pool", "Pooling",
                        "Input of the classifier: the mean of all tokens, or the class token.",
                        {"mean", "cls"})),
        advanced(choice(&Plain::image_norm, "image_norm", "Pixel normalisation",
                        "Normalises the pixels with the mean and standard deviation of a data set.",
                        {"none", "cifar10", "cifar100", "fashion-mnist"})),
        advanced(boolean(&Plain::final_norm, "final_norm", "Final norm",
                         "Normalises before the classifier."))};
    FieldTable<Options> symbolFields;
    if constexpr (kDual<Options>)
        symbolFields = symbols<Options>(
            kSymbolKinds,
            [](const Options& o) { return patchesOf(o) > 0 ? o.tokens() : std::int64_t{0}; },
            [](const Options& o) { return o.n_heads_ra > 0; });
    return withGroups<Options>(
        {block<Options>(kDual<Options> ? dualBlock({"causal"}) : plainBlock(plainHeads({"rope"})),
                        kDual<Options>),
         symbolFields, of<Options>(own)});
}

template <class Options>
void problems(const Options& o, ProblemList& list) {
    const std::int64_t channels = o.image_norm == "fashion-mnist" ? 1 : 3;
    if (o.image_shape.size() == 3 && o.image_norm != "none" && o.image_shape[0] != channels)
        list.refuse("image_norm", o.image_norm + " images have " + std::to_string(channels) +
                                      " channels, not " + std::to_string(o.image_shape[0]));
    if (!list.empty()) return;
    list.add(o.BlockOptions::problems(o.d_model, kDual<Options>, o.rope));
    if constexpr (kDual<Options>) {
        list.blockSymbols(o, o.d_model, o.tokens());
    }
}

template <class Options>
void shapes(const Options& o, ShapeList& list) {
    list.parameter("pos_embedding", {1, o.tokens(), o.d_model});
    list.parameter("cls_token", {1, 1, o.d_model});
    addPatchEmbedderShapes(list, o, o.d_model, "to_patch_embedding");
    addBlockShapes(list, "encoder_blocks", o.n_layers, stackOf(o, kDual<Options>));
    if constexpr (kDual<Options>)
        addSymbolShapes(list, "symbol_retriever", o, o.d_model, o.tokens());
    if (o.final_norm) list.norm("final_out.0", o.d_model);
    list.linear(o.final_norm ? "final_out.1" : "final_out", o.d_model, o.num_classes);
}

template <class Options>
void outline(const Options& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "to_patch_embedding", patchText(o));
    builder.add("class token", "cls_token");
    builder.add("positions", "pos_embedding", std::to_string(o.tokens()) + " learned");
    if constexpr (kDual<Options>)
        builder.add("symbols", "symbol_retriever", symbolText(o, o.tokens()));
    addBlockOutline(builder, "encoder", "encoder_blocks", o.n_layers, stackOf(o, kDual<Options>));
    builder.add("classifier", "final_out",
                std::to_string(o.num_classes) + " classes from the " +
                    (o.pool == "cls" ? "class token" : "mean token"));
}

template <class Options>
void readConfig(Options& o, JsonArguments& a) {
    setConstructorDefaults(o, kDual<Options>);
    o.pool = "cls";
    a.require({"image_shape", "patch_size", "num_classes", "d_model", "n_layers", "dff",
               "dropout_rate", "activation", "norm_first"});
    a.read("image_shape", o.image_shape, 3);
    a.read("patch_size", o.patch_size, 2);
    a.read("num_classes", o.num_classes);
    a.read("d_model", o.d_model);
    a.read("n_layers", o.n_layers);
    a.read("pool", o.pool);
    a.read("final_norm", o.final_norm);
    readBlockConfig(o, a);
    if constexpr (kDual<Options>) {
        a.read("symbol_retrieval", o.symbol_retrieval);
        readDualHeadsConfig(o, a, o.symbol_retrieval);
        readSymbolsConfig(o, o.d_model, a.sub("symbol_retrieval_kwargs"));
    } else {
        a.read("n_heads", o.n_heads_sa);
    }
}

template <class Options>
ConfigJson writeConfig(const Options& o) {
    ConfigJson a = {{"image_shape", o.image_shape}, {"patch_size", o.patch_size},
                    {"num_classes", o.num_classes}, {"d_model", o.d_model},
                    {"n_layers", o.n_layers},       {"pool", o.pool}};
    writeBlockConfig(a, o);
    if (o.final_norm) a["final_norm"] = true;
    if constexpr (kDual<Options>) {
        a["symbol_retrieval"] = o.symbol_retrieval;
        a["symbol_retrieval_kwargs"] = symbolsConfig(o, o.d_model, o.tokens());
        writeDualHeadsConfig(a, o, o.symbol_retrieval);
        // An extension: the published image model has no such option.
        if (!o.share_attn_params) a.erase("share_attn_params");
    } else {
        a["n_heads"] = o.n_heads_sa;
    }
    return a;
}

template <class Options>
Architecture<Options> vision(const char* name, const char* title, int order) {
    Architecture<Options> a;
    a.name = name;
    a.title = title;
    a.order = order;
    a.fields = visionFields<Options>();
    a.problems = problems<Options>;
    a.shapes = shapes<Options>;
    a.outline = outline<Options>;
    a.layers = [](const Options& o) { return layersOf("encoder_blocks.", o.n_layers, "layer"); };
    a.work = [](const Options& o) { return blockWork(o, stackOf(o, kDual<Options>), o.n_layers); };
    a.readConfig = readConfig<Options>;
    a.writeConfig = writeConfig<Options>;
    a.readTensors = [](Options& o, const auto& shape) {
        if (!shape("final_out.1.weight").empty()) o.final_norm = true;
    };
    a.dual = kDual<Options>;
    a.classToken = true;
    return a;
}

const RegisterArchitecture dual([] {
    auto a = vision<Dual>("VisionDualAttnTransformer", "Vision Dual Attention Transformer", 10);
    a.text = [](const Dual& o) { return "ViDAT " + headsText(o); };
    return a;
}());

const RegisterArchitecture plain([] {
    auto a = vision<Plain>("VisionTransformer", "Vision Transformer", 20);
    a.text = [](const Plain& o) { return "ViT sa" + std::to_string(o.n_heads_sa); };
    return a;
}());

}  // namespace
}  // namespace relascope::core
