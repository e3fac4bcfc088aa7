// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the models around the Abstractor module: sequence to sequence (ABS 3.3) and
// over sets of objects.
#include "model/abstractor/abstractor_options.h"
#include "model/blocks/block_info.h"
#include "model/seq2seq/pair_config.h"

namespace relascope::core {
namespace {

using Pairs = Seq2SeqAbstractorOptions;
using Objects = ObjectAbstractorOptions;

FieldTable<AbstractorOptions> blockFields() {
    using O = AbstractorOptions;
    return {fields::make(fields::blockSpec("n_heads_sa"), &O::n_heads_sa),
            fields::make(fields::blockSpec("symmetric_rels"), &O::symmetric_rels),
            fields::make(fields::blockSpec("dff"), &O::dff),
            fields::make(fields::blockSpec("dropout_rate"), &O::dropout_rate),
            fields::make(fields::blockSpec("rca_activation"), &O::rca_activation)};
}

FieldTable<AbstractorOptions> abstractorFields() {
    using namespace fields;
    using O = AbstractorOptions;
    const auto relational = [](const O& o) { return o.relational; };
    return {
        integer(&O::n_layers_abs, "n_layers_abs", "Abstractor layers",
                "Number of layers of an Abstractor.", 1, 1000),
        boolean(&O::relational, "relational", "Relational",
                "If off, the ablation: queries from the symbols, keys and values from the "
                "encoder."),
        selfAttention(&O::use_self_attn),
        advanced(automatic(integer(&O::n_heads_abs, "n_heads_abs", "Abstractor heads",
                                   "Heads of the Abstractor; 0 means the same as in the other "
                                   "blocks.",
                                   0, 1024),
                           [](const O& o) { return o.n_heads_sa; })),
        advanced(automatic(integer(&O::dff_abs, "dff_abs", "Abstractor width",
                                   "Feed-forward width of the Abstractor; 0 means the same as in "
                                   "the other blocks.",
                                   0, 1048576),
                           [](const O& o) { return feedForwardWidth(o.d_model, o.dff, "relu"); })),
        keyWidth<O>(&O::key_dim, [](const O& o) { return o.d_model; }),
        advanced(boolean(&O::abs_feed_forward, "abs_feed_forward", "Abstractor feed-forward",
                         "Adds a feed-forward block to each Abstractor layer.")),
        advanced(choice(&O::abs_residual, "abs_residual", "Abstractor residual",
                        "Residual added to the relational cross-attention: the abstract objects, "
                        "the objects themselves (which passes sensory information), or none.",
                        {"symbols", "objects", "none"})),
        abstractorNorm(&O::abs_norm),
        advanced(boolean(&O::abs_norm_first, "abs_norm_first", "Abstractor norm first",
                         "Normalises before each sub-layer (pre-norm) instead of after it "
                         "(post-norm).")),
        advanced(
            when<O>(relational, boolean(&O::rca_scaled, "rca_scaled", "Scaled relations",
                                        "Divides the inner products by the square root of the key "
                                        "width."))),
        advanced(when<O>(relational, boolean(&O::mask_diagonal, "mask_diagonal", "Mask diagonal",
                                             "Masks the relation of each object to itself."))),
        boolean(&O::symbol_positions, "symbol_positions", "Symbol positions",
                "Adds sinusoidal position embeddings to the symbols.")};
}

FieldTable<Pairs> pairFields() {
    using namespace fields;
    FieldTable<Pairs> own = {
        choice(&Pairs::abstractor_architecture, "abstractor_architecture", "Architecture a-d",
               "a: abstractor, decoder. b: encoder, abstractor, decoder. c: the decoder attends to "
               "the encoder and to an abstractor of the input. d: the decoder attends to the "
               "encoder and to an abstractor of its output. none: encoder, decoder; a Transformer "
               "with the same blocks.",
               {"a", "b", "c", "d", "none"}),
        when<Pairs>([](const Pairs& o) { return o.twoContexts(); },
                    choice(&Pairs::decoder_contexts, "decoder_contexts", "Contexts",
                           "One decoder layer per context, in sequence, or both contexts in "
                           "parallel.",
                           {"in-turn", "concatenated"})),
        advanced(integer(&Pairs::n_abstractors, "n_abstractors", "Chain",
                         "Number of Abstractors in sequence: relations between relations.", 1,
                         100))};
    auto depths = of<Pairs>(encoderDecoderDepth());
    depths[0].applies = [](const Pairs& o) { return o.abstractor_architecture != "a"; };
    return joined<Pairs>({depths, of<Pairs>(stream()), of<Pairs>(blockFields()),
                          symbols<Pairs>({"positional_symbols", "position_relative",
                                          "symbolic_attention", "learned", "sinusoidal"},
                                         [](const Pairs& o) { return o.longest(); }),
                          own, of<Pairs>(abstractorFields()), of<Pairs>(pairInput())});
}

FieldTable<Objects> objectFields() {
    using namespace fields;
    auto kinds = kSymbolKinds;
    kinds.insert(kinds.end(), {"learned", "sinusoidal"});
    return withGroups<Objects>(
        {of<Objects>(blockFields()),
         symbols<Objects>(kinds, [](const Objects& o) { return o.n_objects; }),
         of<Objects>(abstractorFields()),
         {hiddenWidth(&Objects::hidden)}});
}

void problems(const Pairs& o, ProblemList& list) {
    list.atLeast("n_layers_dec", o.n_layers_dec, 1);
    if (!list.empty()) return;
    const auto& wiring = o.abstractor_architecture;
    list.atLeast("n_heads_sa", o.n_heads_sa, 1);
    if (o.abstracts()) list.atLeast("n_layers_abs", o.n_layers_abs, 1);
    if (wiring == "a" && o.n_layers_enc != 0)
        list.refuse("n_layers_enc", "architecture a has no encoder; give 0");
    if (wiring != "a" && o.n_layers_enc < 1)
        list.refuse("n_layers_enc", "architecture " + wiring + " needs an encoder; give 1 or more");
    list.evenWidth(o.d_model);
    if (o.symbol_retrieval == "rel_sym_attn")
        list.refuse("symbol_retrieval", "the Abstractor has no rel_sym_attn; choose another");
    if (!o.relational && o.symbol_retrieval == "position_relative")
        list.refuse("symbol_retrieval",
                    "the ablation needs one symbol per object; position_relative is not "
                    "supported");
    if (!o.relational && o.abs_residual == "objects")
        list.refuse("abs_residual", "the ablation adds the symbols; 'objects' is not supported");
    list.symbols(o, o.d_model);
}

void problems(const Objects& o, ProblemList& list) {
    if (!list.empty()) return;
    list.atLeast("n_heads_abs", o.heads(), 1);
    list.atLeast("n_layers_abs", o.n_layers_abs, 1);
    list.atLeast("hidden", o.hidden, 1);
    list.evenWidth(o.d_model);
    if (o.symbol_retrieval == "symbolic_attention" || o.symbol_retrieval == "rel_sym_attn")
        list.symbols(o, o.d_model);
}

// wq, wk (one with wq where symmetric), wv, wo of AbstractorAttention.
void addAttention(ShapeList& list, const std::string& name, std::int64_t d, std::int64_t width,
                  bool symmetric = false) {
    list.linear(name + ".wq", d, width);
    if (symmetric)
        list.aliasOfLinear(name + ".wk", name + ".wq", true);
    else
        list.linear(name + ".wk", d, width);
    list.linear(name + ".wv", d, width);
    list.linear(name + ".wo", width, d);
}

struct AbstractorBlock {
    std::int64_t d = 0, width = 0;  // widths of the stream and of all heads
    const char* middle = nullptr;
    bool symmetric = false, self = true, feedForward = true;
    std::int64_t dff = 0;
    std::string norm = "layernorm";
};

void addBlocks(ShapeList& list, const std::string& name, std::int64_t layers,
               const AbstractorBlock& b) {
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string block = name + "." + std::to_string(i);
        if (b.self) {
            addAttention(list, block + ".self_attn", b.d, b.width);
            list.norm(block + ".norm1", b.d, b.norm);
        }
        if (b.middle) {
            addAttention(list, block + "." + b.middle, b.d, b.width, b.symmetric);
            list.norm(block + ".norm2", b.d, b.norm);
        }
        if (b.feedForward) {
            list.feedForward(block + ".ff_block", b.d, b.dff, "relu", true);
            list.norm(block + ".norm3", b.d, b.norm);
        }
    }
}

// An Abstractor for inputs of `objects` objects, with symbols for up to `longest`.
void addAbstractor(ShapeList& list, const std::string& name, const AbstractorOptions& o,
                   std::int64_t objects, std::int64_t longest) {
    if (o.symbol_retrieval == "learned")
        list.parameter(name + ".symbols", {objects, o.d_model});
    else if (o.symbol_retrieval != "sinusoidal")
        addSymbolShapes(list, name + ".symbol_retriever", o, o.d_model, longest);
    AbstractorBlock block{o.d_model,
                          o.heads() * o.keyDim(),
                          o.relational ? "rca" : "cross_attn",
                          o.relational && o.symmetric_rels,
                          o.use_self_attn,
                          o.abs_feed_forward,
                          o.feedForward(),
                          o.abs_norm};
    addBlocks(list, name + ".layers", o.n_layers_abs, block);
}

void shapes(const Pairs& o, ShapeList& list) {
    addEmbedderShapes(list, "source_embedder", o.input_type, o.input_size, o.d_model);
    addEmbedderShapes(list, "target_embedder", o.output_type, o.output_size, o.d_model);
    AbstractorBlock block;
    block.d = o.d_model;
    block.width = o.n_heads_sa * o.keyDim();
    block.dff = o.dff;
    addBlocks(list, "encoder_blocks", o.n_layers_enc, block);
    if (o.abstracts()) {
        addAbstractor(list, "abstractor", o, o.in_block_size, o.longest());
        for (std::int64_t i = 1; i < o.n_abstractors; ++i)
            addAbstractor(list, "abstractors." + std::to_string(i), o, o.in_block_size,
                          o.longest());
    }
    block.middle = "cross_attn";
    addBlocks(list, "decoder_blocks", o.n_layers_dec * (o.inTurn() ? 2 : 1), block);
    list.linear("final_out", o.d_model, o.out_dim);
}

void shapes(const Objects& o, ShapeList& list) {
    list.linear("source_embedder", o.object_dim, o.d_model);
    addAbstractor(list, "abstractor", o, o.n_objects, o.n_objects);
    list.hidden(o.n_objects * o.d_model, o.hidden, o.out_dim);
}

void outlineBlocks(OutlineBuilder& builder, OutlineNode& parent, const AbstractorOptions& o,
                   const std::string& title, const std::string& name) {
    auto* node = builder.add(parent, title, name);
    if (!node) return;
    for (std::int64_t i = 0; builder.exists(node->prefix + "." + std::to_string(i)); ++i) {
        auto* layer = builder.add(*node, "block " + std::to_string(i + 1), std::to_string(i));
        const std::string heads = countText(o.n_heads_sa, "head");
        builder.add(*layer, "self-attention", "self_attn", heads);
        builder.add(*layer, "relational cross-attention", "rca",
                    countText(o.heads(), "head") + ", " + o.rca_activation +
                        (o.symmetric_rels ? ", symmetric" : ""));
        builder.add(*layer, "cross-attention", "cross_attn", heads);
        builder.add(*layer, "feed-forward", "ff_block", "relu");
        for (const char* norm : {"norm1", "norm2", "norm3"})
            builder.add(*layer, norm, norm, "layernorm");
    }
    node->detail = countText(static_cast<std::int64_t>(node->children.size()), "block");
}

void outline(const Pairs& o, OutlineBuilder& builder) {
    builder.add("source embedding", "source_embedder", sequenceText(o.input_type, o.input_size));
    builder.add("target embedding", "target_embedder", sequenceText(o.output_type, o.output_size));
    outlineBlocks(builder, builder.root(), o, "encoder", "encoder_blocks");
    for (std::int64_t i = 0; i < o.n_abstractors; ++i) {
        const std::string n = std::to_string(i + 1);
        auto* node = builder.add(i == 0 ? "abstractor" : "abstractor " + n,
                                 i == 0 ? "abstractor" : "abstractors." + std::to_string(i),
                                 countText(o.n_layers_abs, "layer"));
        if (!node) break;
        builder.add(*node, "learned symbols", "symbols", std::to_string(o.in_block_size) + " rows");
        builder.add(*node, "symbols", "symbol_retriever", symbolText(o, o.longest()));
        outlineBlocks(builder, *node, o, "layers", "layers");
    }
    outlineBlocks(builder, builder.root(), o, "decoder", "decoder_blocks");
    builder.add("output", "final_out", std::to_string(o.out_dim) + " scores");
}

void outline(const Objects& o, OutlineBuilder& builder) {
    builder.add("object embedding", "source_embedder", objectText(o));
    builder.add("abstractor", "abstractor",
                countText(o.n_layers_abs, "layer") + ", " + countText(o.heads(), "head"));
    addHiddenOutline(builder, o.hidden, o.out_dim);
}

std::vector<LayerPlace> layers(const Pairs& o) {
    std::vector<LayerPlace> places;
    addLayers(places, "encoder_blocks.", o.n_layers_enc, "encoder");
    for (std::int64_t k = 0; o.abstracts() && k < o.n_abstractors; ++k) {
        const std::string n = std::to_string(k);
        addLayers(places, k == 0 ? "abstractor.layers." : "abstractors." + n + ".layers.",
                  o.n_layers_abs,
                  k == 0 ? "abstractor" : "abstractor " + std::to_string(k + 1) + " layer");
    }
    for (std::int64_t i = 0; i < o.n_layers_dec; ++i) {
        const std::string name = "decoder " + std::to_string(i + 1), blocks = "decoder_blocks.";
        if (o.inTurn()) {
            addDecoderLayer(places, blocks + std::to_string(2 * i), name + " (encoder)",
                            kSourceSide, true);
            addDecoderLayer(places, blocks + std::to_string(2 * i + 1), name + " (abstractor)",
                            kSourceSide, true);
        } else {
            addDecoderLayer(places, blocks + std::to_string(i), name,
                            o.twoContexts() ? kBothSides : kSourceSide, true);
        }
    }
    return places;
}

// Symbol retrievals belong to the first layer of their Abstractor.
std::string symbolLayer(const AbstractorOptions&, const std::string& retriever, int) {
    return retriever.substr(0, retriever.rfind(".symbol_retriever")) + ".layers.0";
}

// The arguments of the published constructor besides those of pairConfig, in its order.
template <class OptionsOrConst, class At>
void arguments(OptionsOrConst& o, At at) {
    at("abstractor_architecture", o.abstractor_architecture);
    at("decoder_contexts", o.decoder_contexts);
    at("n_abstractors", o.n_abstractors);
    at("n_layers_abs", o.n_layers_abs);
    at("n_heads", o.n_heads_sa);
    at("n_heads_abs", o.n_heads_abs);
    at("key_dim", o.key_dim);
    at("dff", o.dff);
    at("dff_abs", o.dff_abs);
    at("dropout_rate", o.dropout_rate);
    at("use_self_attn", o.use_self_attn);
    at("relational", o.relational);
    at("abs_feed_forward", o.abs_feed_forward);
    at("abs_residual", o.abs_residual);
    at("abs_norm", o.abs_norm);
    at("abs_norm_first", o.abs_norm_first);
    at("rca_activation", o.rca_activation);
    at("rca_scaled", o.rca_scaled);
    at("symmetric_rels", o.symmetric_rels);
    at("mask_diagonal", o.mask_diagonal);
    at("symbol_positions", o.symbol_positions);
    at("symbol_retrieval", o.symbol_retrieval);
}

void readConfig(Pairs& o, JsonArguments& a) {
    readPairConfig(o, o, o, a);
    a.require({"n_layers_abs", "n_heads", "dff"});
    o.symmetric_rels = false;
    o.abstractor_architecture = o.n_layers_enc == 0 ? "a" : "b";
    o.symbol_retrieval = "learned";
    o.dropout_rate = 0.0;
    a.read("n_abstractors", o.n_abstractors, 1);
    arguments(o, [&a](const char* key, auto& value) { a.read(key, value); });
    auto symbols = a.sub("symbol_retrieval_kwargs");
    if (o.symbol_retrieval != "learned" && o.symbol_retrieval != "sinusoidal")
        readSymbolsConfig(o, o.d_model, std::move(symbols));
    else
        symbols.done();
    if (o.rca_activation == "linear") o.rca_activation = "identity";
}

ConfigJson writeConfig(const Pairs& o) {
    ConfigJson a = pairConfig(o, o, o);
    a["loss_ignore_idx"] = o.loss_ignore_idx;
    arguments(o, [&a](const char* key, const auto& value) { a[key] = value; });
    a["n_heads_abs"] = orNull(o.n_heads_abs);
    a["key_dim"] = o.keyDim();
    a["dff_abs"] = orNull(o.dff_abs);
    a["symbol_retrieval_kwargs"] = symbolsConfig(o, o.d_model, o.longest());
    return a;
}

WorkEstimate abstractorWork(const AbstractorOptions& o, std::int64_t layers) {
    return WorkEstimate{.layers = layers,
                        .d_model = o.d_model,
                        .dff = feedForwardWidth(o.d_model, o.dff, "relu"),
                        .heads = o.heads()};
}

const RegisterArchitecture pairs([] {
    Architecture<Pairs> a;
    a.name = "Seq2SeqAbstractor";
    a.title = "Abstractor, seq2seq";
    a.order = 110;
    a.fields = pairFields();
    a.problems = problems;
    a.text = [](const Pairs& o) {
        return !o.abstracts() ? "Transformer " + std::to_string(o.n_heads_sa) + " heads"
                              : (o.relational ? "Abstractor (" : "Ablation (") +
                                    o.abstractor_architecture + ")";
    };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = layers;
    a.symbolLayer = [](const Pairs& o, const std::string& retriever, int retrieval) {
        return symbolLayer(o, retriever, retrieval);
    };
    a.work = [](const Pairs& o) {
        auto work = abstractorWork(o, o.n_layers_enc + o.n_layers_dec);
        return work;
    };
    a.readConfig = readConfig;
    a.writeConfig = writeConfig;
    return a;
}());

const RegisterArchitecture objects([] {
    Architecture<Objects> a;
    a.name = "ObjectAbstractor";
    a.title = "Abstractor over objects";
    a.order = 130;
    a.constructed.symmetric_rels = false;
    a.constructed.dff = 0;
    a.constructed.dropout_rate = 0.0;
    a.fields = objectFields();
    a.problems = problems;
    a.text = [](const Objects& o) { return "Abstractor " + std::to_string(o.heads()) + " heads"; };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = [](const Objects& o) {
        return layersOf("abstractor.layers.", o.n_layers_abs, "abstractor");
    };
    a.symbolLayer = [](const Objects& o, const std::string& retriever, int retrieval) {
        return symbolLayer(o, retriever, retrieval);
    };
    a.work = [](const Objects& o) {
        auto work = abstractorWork(o, o.n_layers_abs);
        return work;
    };
    return a;
}());

}  // namespace
}  // namespace relascope::core
