// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the language models (DAT 4.4).
#include "model/blocks/block_info.h"
#include "model/language/language_options.h"

namespace relascope::core {

StackOptions stackOf(const TransformerLMOptions& o) {
    StackOptions s;
    s.block = o;
    s.d_model = o.d_model;
    s.causal = true;
    s.rope = o.rotary();
    s.feedForwardBias = o.bias;
    return s;
}

StackOptions stackOf(const PlainLMOptions& o) {
    auto s = stackOf(static_cast<const TransformerLMOptions&>(o));
    s.details.qk_norm = o.qk_norm;
    // Queries and keys are compared with one another: a bias would be the same for all of them.
    s.details.qk_norm_type = o.norm_type == "layernorm" ? "layernorm_no_bias" : "rmsnorm";
    // Norms of the sums stand behind sub-layers as they are.
    s.details.norm_behind = o.norm_behind && o.norm_first;
    s.details.norm_before = !s.details.norm_behind;
    s.details.sliding_window = o.sliding_window, s.details.layer_kinds = o.layer_kinds;
    return s;
}

StackOptions stackOf(const DualAttnTransformerLMOptions& o) {
    auto s = stackOf(static_cast<const TransformerLMOptions&>(o));
    s.dual = true;
    // The published class does not pass `bias` to its blocks, which default to true.
    s.feedForwardBias = true;
    return s;
}

namespace {

using Base = TransformerLMOptions;
using Plain = PlainLMOptions;
using Dual = DualAttnTransformerLMOptions;

// The fields of LaterOptions, of models that have them.
template <class Options>
FieldTable<Options> laterFields() {
    using namespace fields;
    if constexpr (kDual<Options>) {
        return {};
    } else {
        using O = LaterOptions;
        auto table = of<Options>(FieldTable<O>{queryNorm(&O::qk_norm), normBehind(&O::norm_behind),
                                               slidingWindow(&O::sliding_window),
                                               layerKinds(&O::layer_kinds)});
        for (auto& field : table)
            if (field.spec.name == "norm_behind")
                field.applies = [](const Options& o) { return o.norm_first; };
        return table;
    }
}

template <class Options>
FieldTable<Options> languageFields() {
    using namespace fields;
    const FieldTable<Base> positions = {choice(&Base::pos_enc_type, "pos_enc_type", "Positions",
                                               "Learned position embeddings, or rotary positions.",
                                               {"RoPE", "pos_emb"})};
    FieldTable<Options> symbolFields, sharing;
    if constexpr (kDual<Options>) {
        symbolFields = symbols<Dual>(
            {"positional_symbols", "position_relative", "symbolic_attention"},
            [](const Dual& o) { return o.max_block_size; },
            [](const Dual& o) { return o.n_heads_ra > 0; });
        sharing = {advanced(boolean(&Dual::shared_symbol_retriever, "shared_symbol_retriever",
                                    "Shared symbols", "All layers share one symbol retriever.")),
                   advanced(when<Dual>([](const Dual& o) { return !o.shared_symbol_retriever; },
                                       boolean(&Dual::weight_tie_symbol_library,
                                               "weight_tie_symbol_library", "Tied symbols",
                                               "The retrievers of all layers share one symbol "
                                               "library.")))};
    }
    return joined<Options>(
        {of<Options>(depth()), of<Options>(stream()),
         block<Options>(kDual<Options> ? dualBlock({"causal", "rope"}) : plainBlock(plainHeads()),
                        kDual<Options>),
         symbolFields, of<Options>(tokenInput()), of<Options>(positions), sharing,
         laterFields<Options>()});
}

template <class Options>
void problems(const Options& o, ProblemList& list) {
    if (!list.empty()) return;
    list.add(o.BlockOptions::problems(o.d_model, kDual<Options>, o.rotary()));
    if constexpr (!kDual<Options>) {
        layerKindProblems(o.layer_kinds, o.sliding_window, list);
    }
    if constexpr (kDual<Options>) {
        if (o.symbol_retrieval == "rel_sym_attn")
            list.refuse("symbol_retrieval",
                        "the published language model does not offer rel_sym_attn");
        if (o.weight_tie_symbol_library && !o.shared_symbol_retriever &&
            o.symbol_retrieval == "position_relative")
            list.refuse("weight_tie_symbol_library",
                        "cannot be combined with position-relative symbols");
        list.blockSymbols(o, o.d_model);
    }
}

void addRetrievers(const Dual& o, ShapeList& list) {
    const std::string all = "layers.symbol_retrievers.";
    addSymbolShapes(list, all + "0", o, o.d_model, o.max_block_size);
    const bool symbolic = o.symbol_retrieval == "symbolic_attention",
               positional = o.symbol_retrieval == "positional_symbols";
    for (std::int64_t i = 1; i < o.n_layers; ++i) {
        const std::string name = all + std::to_string(i);
        const auto share = [&](const std::string& tensor) {
            list.alias(name + tensor, all + "0" + tensor);
        };
        if (o.shared_symbol_retriever) {
            ShapeList first;
            addSymbolShapes(first, "", o, o.d_model, o.max_block_size);
            for (const auto& shape : first.take()) share(shape.name);
        } else if (!o.weight_tie_symbol_library) {
            addSymbolShapes(list, name, o, o.d_model, o.max_block_size);
        } else if (symbolic) {
            list.parameter(name + ".template_features", {o.n_symbols, o.d_model});
            share(".symbol_library");
            list.linear(name + ".q_proj", o.d_model, o.d_model);
        } else if (positional) {
            share(".symbol_library.weight");
        }
    }
}

template <class Options>
void shapes(const Options& o, ShapeList& list) {
    const std::string tokens = "layers.token_embedder.weight";
    list.parameter(tokens, {o.vocab_size, o.d_model});
    if constexpr (kDual<Options>) addRetrievers(o, list);
    addBlockShapes(list, "layers.blocks", o.n_layers, stackOf(o));
    list.norm("layers.norm", o.d_model, o.norm_type);
    list.alias("layers.final_out.weight", tokens);
    if (!o.rotary())
        list.parameter("layers.positional_embedder.weight", {o.max_block_size, o.d_model});
}

template <class Options>
void outline(const Options& o, OutlineBuilder& builder) {
    builder.add("token embedding", "layers.token_embedder",
                std::to_string(o.vocab_size) + " tokens, tied to the output");
    builder.add("positions", "layers.positional_embedder",
                std::to_string(o.max_block_size) + " learned");
    if constexpr (kDual<Options>) {
        auto* node = builder.add("symbols", "layers.symbol_retrievers",
                                 symbolText(o, o.max_block_size) +
                                     (o.shared_symbol_retriever     ? ", shared by all layers"
                                      : o.weight_tie_symbol_library ? ", one library for all layers"
                                                                    : ", one retriever per layer"));
        for (std::int64_t i = 0; node && !o.shared_symbol_retriever && i < o.n_layers; ++i)
            builder.add(*node, "layer " + std::to_string(i + 1), std::to_string(i));
    }
    addBlockOutline(builder, "blocks", "layers.blocks", o.n_layers, stackOf(o));
    builder.add("norm", "layers.norm", o.norm_type);
}

template <class Options>
void readConfig(Options& o, JsonArguments& a) {
    setConstructorDefaults(o, kDual<Options>);
    o.pos_enc_type = "pos_emb";
    a.require({"vocab_size", "d_model", "n_layers", "max_block_size"});
    a.read("vocab_size", o.vocab_size);
    a.read("d_model", o.d_model);
    a.read("n_layers", o.n_layers);
    a.read("max_block_size", o.max_block_size);
    a.read("pos_enc_type", o.pos_enc_type);
    readBlockConfig(o, a);
    if constexpr (kDual<Options>) {
        o.symbol_retrieval = "symbolic_attention";
        a.read("symbol_retrieval", o.symbol_retrieval);
        readDualHeadsConfig(o, a, o.symbol_retrieval);
        readSymbolsConfig(o, o.d_model, a.sub("symbol_retrieval_kwargs"));
        auto sharing = a.sub("symbol_retriever_config");
        sharing.read("shared_symbol_retriever", o.shared_symbol_retriever);
        sharing.read("weight_tie_symbol_library", o.weight_tie_symbol_library);
        sharing.done();
    } else {
        a.require({"n_heads"});
        a.read("n_heads", o.n_heads_sa);
        a.has("use_flash_attention");  // how attention is computed, not its result
        auto block = a.sub("block_kwargs");
        readAttentionConfig(block.sub("attn_kwargs"), o.sa_n_kv_heads, o.sa_key_dim,
                            o.sa_add_bias_kv, nullptr);
        block.done();
        // Options of models that were trained here.
        a.read("qk_norm", o.qk_norm);
        a.read("norm_behind", o.norm_behind);
        a.read("sliding_window", o.sliding_window);
        a.read("layer_kinds", o.layer_kinds);
    }
    // Research configurations; only the behaviour of the published class is supported.
    a.neutral("use_rope", o.rotary());
    a.neutral("update_symbols_each_layer", true);
    a.neutral("attn_kwargs", nullptr);
    a.neutral("symmetric_attn", false);
    a.neutral("final_norm", true);
}

template <class Options>
ConfigJson writeConfig(const Options& o) {
    ConfigJson a = {{"vocab_size", o.vocab_size},
                    {"d_model", o.d_model},
                    {"n_layers", o.n_layers},
                    {"max_block_size", o.max_block_size},
                    {"pos_enc_type", o.pos_enc_type}};
    writeBlockConfig(a, o);
    if constexpr (kDual<Options>) {
        a["symbol_retrieval"] = o.symbol_retrieval;
        a["symbol_retrieval_kwargs"] = symbolsConfig(o, o.d_model, o.max_block_size);
        a["symbol_retriever_config"] = {{"shared_symbol_retriever", o.shared_symbol_retriever},
                                        {"weight_tie_symbol_library", o.weight_tie_symbol_library}};
        writeDualHeadsConfig(a, o, o.symbol_retrieval);
    } else {
        a["n_heads"] = o.n_heads_sa;
        a["block_kwargs"] = {{"attn_kwargs", plainAttentionConfig(o)}};
        const LaterOptions usual;  // options that the published class has no arguments for
        if (o.qk_norm != usual.qk_norm) a["qk_norm"] = o.qk_norm;
        if (o.norm_behind) a["norm_behind"] = true;
        if (o.sliding_window > 0) a["sliding_window"] = o.sliding_window;
        if (!o.layer_kinds.empty()) a["layer_kinds"] = o.layer_kinds;
    }
    return a;
}

template <class Options>
Architecture<Options> language(const char* name, const char* title, int order) {
    Architecture<Options> a;
    a.name = name;
    a.title = title;
    a.order = order;
    a.fields = languageFields<Options>();
    a.problems = problems<Options>;
    a.shapes = shapes<Options>;
    a.outline = outline<Options>;
    a.layers = [](const Options& o) {
        return layersOf("layers.blocks.", o.n_layers, "layer", true);
    };
    a.work = [](const Options& o) { return blockWork(o, stackOf(o), o.n_layers); };
    a.readConfig = readConfig<Options>;
    a.writeConfig = writeConfig<Options>;
    a.dual = kDual<Options>;
    a.plainConfig = true;
    return a;
}

const RegisterArchitecture dual([] {
    auto a = language<Dual>("DualAttnTransformerLM", "Dual Attention Transformer LM", 70);
    a.text = [](const Dual& o) { return "DAT-LM " + headsText(o); };
    return a;
}());

const RegisterArchitecture plain([] {
    auto a = language<Plain>("TransformerLM", "Transformer LM", 80);
    a.text = [](const Plain& o) {
        return "Transformer-LM " + std::to_string(o.n_heads_sa) + " heads";
    };
    return a;
}());

}  // namespace
}  // namespace relascope::core
