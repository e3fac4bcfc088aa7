// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of decoders of public families that have relational heads.
#include "model/blocks/block_info.h"
#include "model/public/family.h"
#include "model/public/public_options.h"

namespace relascope::core {

StackOptions stackOf(const PublicDualDecoderOptions& o) {
    auto s = stackOf(static_cast<const DualAttnTransformerLMOptions&>(o));
    s.details = o;
    s.feedForwardBias = o.ff_bias;
    s.symbolDim = o.symbol_dim;
    return s;
}

namespace {

using DualDecoder = PublicDualDecoderOptions;
constexpr const char* kRetrievers = "layers.symbol_retrievers.";

FieldTable<RotaryOptions> rotaryBase() {
    using namespace fields;
    using O = RotaryOptions;
    return {advanced(positive(real(&O::rope_theta, "rope_theta", "Rotary base",
                                   "Base of the rotary frequencies.", 0.0, 1e12)))};
}

FieldTable<BlockDetails> dualDetails() {
    using namespace fields;
    using O = BlockDetails;
    return {
        advanced(positive(real(&O::norm_eps, "norm_eps", "Norm epsilon",
                               "Added to the variance before its root is taken.", 0.0, 1.0))),
        advanced(boolean(&O::sa_add_bias_q, "sa_add_bias_q", "Query bias",
                         "Adds a bias to the sensory query projection.")),
        advanced(boolean(&O::ra_add_bias_q, "ra_add_bias_q", "Relational query bias",
                         "Adds a bias to the relational query projection.")),
        advanced(boolean(&O::rel_add_bias, "rel_add_bias", "Relation key bias",
                         "The keys of the relations of disrca have a bias where keys have one.")),
        advanced(boolean(&O::masked_relations, "masked_relations", "Masked relations",
                         "Relations to closed cells are 0, and a softmax of relations runs over "
                         "the open cells."))};
}

FieldTable<DualDecoder> symbolDetails() {
    using namespace fields;
    using O = SymbolDetails;
    const auto is = [](const char* kind) {
        return [kind](const DualDecoder& o) { return o.symbol_retrieval == kind; };
    };
    const auto library = [](const DualDecoder& o) {
        return o.symbol_retrieval == "symbolic_attention" || o.symbol_retrieval == "rel_sym_attn";
    };
    const auto one = [](const Field<O>& field) {
        return of<DualDecoder>(FieldTable<O>{field}).front();
    };
    return {
        advanced(automatic(one(integer(&O::symbol_dim, "symbol_dim", "Symbol width",
                                       "Width of the symbols; 0 means d.", 0, 65536)),
                           [](const DualDecoder& o) { return o.d_model; })),
        when<DualDecoder>(is("position_relative"),
                          one(boolean(&O::rotary_symbols, "rotary_symbols", "Rotary symbols",
                                      "The symbol of an offset is its cosines and sines, and "
                                      "not learned."))),
        when<DualDecoder>(
            is("positional_symbols"),
            one(boolean(&O::sinusoidal_symbols, "sinusoidal_symbols", "Sinusoidal symbols",
                        "The symbol of a position is its sinusoids, and not learned."))),
        advanced(
            when<DualDecoder>(library, one(boolean(&O::symbol_bias, "symbol_bias", "Symbol bias",
                                                   "Adds a bias to the queries of the symbols.")))),
        advanced(when<DualDecoder>(
            is("rel_sym_attn"), one(boolean(&O::neighbour_bias, "neighbour_bias", "Neighbour bias",
                                            "Adds biases to the relations to neighbours.")))),
        advanced(one(boolean(&O::normed_symbols, "normed_symbols", "Normed symbols",
                             "Symbols are found from the stream behind the norm.")))};
}

FieldTable<DualDecoder> dualDecoderFields() {
    using namespace fields;
    FieldSpec family{"family", "Family", "The public family whose form the model has.",
                     FieldKind::Choice};
    for (const auto& one : decoderFamilies())
        if (one.architecture == kPublicDualDecoder)
            family.choices.push_back(one.type), family.choiceTitles.push_back(one.title);
    auto blocks = dualBlock({"causal", "rope", "bias", "share_attn_params"});
    for (auto& field : blocks)
        if (field.spec.name == "activation") field.spec.choices.push_back("exact_gelu");
    const FieldTable<FamilyName> named = {
        make(family, &FamilyName::family),
        advanced(boolean(&FamilyName::ff_bias, "ff_bias", "Feed-forward bias",
                         "Adds biases inside the feed-forward block."))};
    auto retrieval = symbols<DualDecoder>(
        kSymbolKinds, [](const DualDecoder& o) { return o.max_block_size; },
        [](const DualDecoder& o) { return o.n_heads_ra > 0; });
    for (auto& field : retrieval)  // the retriever by neighbours has a library as well
        if (field.spec.name == "trainable_symbols")
            field.applies = [](const DualDecoder& o) {
                return o.symbol_retrieval == "symbolic_attention" ||
                       o.symbol_retrieval == "rel_sym_attn";
            };
    return joined<DualDecoder>({of<DualDecoder>(named), of<DualDecoder>(depth()),
                                of<DualDecoder>(stream()), block<DualDecoder>(blocks, true),
                                retrieval, symbolDetails(), of<DualDecoder>(tokenInput()),
                                of<DualDecoder>(documentFields()), of<DualDecoder>(rotaryBase()),
                                of<DualDecoder>(dualDetails()),
                                of<DualDecoder>(outputLayerFields())});
}

void dualDecoderProblems(const DualDecoder& o, ProblemList& list) {
    if (!list.empty()) return;
    const std::int64_t heads = o.n_heads_sa + o.n_heads_ra,
                       width = heads < 1 ? 0 : o.d_model / heads;
    const bool whole = heads > 0 && o.d_model % heads == 0;
    if (whole && width % 2 != 0)
        return list.refuse("d_model", std::to_string(o.d_model) + " gives heads of width " +
                                          std::to_string(width) +
                                          "; rotary positions need an even width");
    const bool related = whole && o.n_heads_ra > 0 && o.ra_type == "relational_attention";
    if (related && o.rel_proj_dim == 0 && width * o.n_heads_ra % o.relations() != 0)
        return list.refuse("n_relations", std::to_string(o.relations()) +
                                              " does not divide the relational width " +
                                              std::to_string(width * o.n_heads_ra) +
                                              "; give a divisor of it");
    list.add(o.BlockOptions::problems(o.d_model, true, true));
    if (!list.empty() || o.n_heads_ra == 0) return;
    list.blockSymbols(o, o.d_model);
    const bool library =
        o.symbol_retrieval == "symbolic_attention" || o.symbol_retrieval == "rel_sym_attn";
    if (library && list.empty()) list.divides("symbol_heads", o.symbol_heads, o.symbolDim());
    const bool waves = (o.rotary_symbols && o.symbol_retrieval == "position_relative") ||
                       (o.sinusoidal_symbols && o.symbol_retrieval == "positional_symbols");
    if (waves && o.symbolDim() % 2 != 0)
        list.refuse("symbol_dim", "symbols of cosines and sines need an even width, not " +
                                      std::to_string(o.symbolDim()) + "; give an even one");
}

void dualDecoderShapes(const DualDecoder& o, ShapeList& list) {
    const std::string tokens = "layers.token_embedder.weight", out = "layers.final_out",
                      all = kRetrievers;
    list.parameter(tokens, {o.vocab_size, o.d_model});
    addSymbolShapes(list, all + "0", o, o.d_model, o.max_block_size, o);
    ShapeList first;
    addSymbolShapes(first, "", o, o.d_model, o.max_block_size, o);
    const auto shared = first.take();
    for (std::int64_t i = 1; i < o.n_layers; ++i)
        for (const auto& shape : shared)
            list.alias(all + std::to_string(i) + shape.name, all + "0" + shape.name);
    addBlockShapes(list, "layers.blocks", o.n_layers, stackOf(o));
    list.norm("layers.norm", o.d_model, o.norm_type);
    if (o.tie_word_embeddings)
        list.alias(out + ".weight", tokens);
    else
        list.linear(out, o.d_model, o.vocab_size, false);
}

void dualDecoderOutline(const DualDecoder& o, OutlineBuilder& builder) {
    builder.add("token embedding", "layers.token_embedder",
                std::to_string(o.vocab_size) + " tokens" +
                    (o.tie_word_embeddings ? ", tied to the output" : ""));
    builder.add("symbols", std::string(kRetrievers) + "0",
                symbolText(o, o.max_block_size, o) + ", shared by all layers");
    addBlockOutline(builder, "blocks", "layers.blocks", o.n_layers, stackOf(o));
    builder.add("norm", "layers.norm", o.norm_type);
    if (!o.tie_word_embeddings)
        builder.add("output", "layers.final_out", std::to_string(o.vocab_size) + " tokens");
}

const RegisterArchitecture dualDecoder([] {
    Architecture<DualDecoder> a;
    a.name = kPublicDualDecoder;
    a.title = "Relational decoder";
    a.order = 1005;
    a.fields = dualDecoderFields();
    for (const auto& one : decoderFamilies())
        if (one.architecture == kPublicDualDecoder) a.defaults.family = one.type;
    a.defaults.activation = "exact_gelu", a.defaults.dropout_rate = 0.0;
    a.defaults.symmetric_rels = false;
    a.problems = dualDecoderProblems;
    a.text = [](const DualDecoder& o) {
        const auto* family = findFamily(o.family);
        return (family ? family->title : o.family) + " " + std::to_string(o.n_layers) +
               " layers, " + headsText(o);
    };
    a.shapes = dualDecoderShapes;
    a.outline = dualDecoderOutline;
    a.layers = [](const DualDecoder& o) {
        return layersOf("layers.blocks.", o.n_layers, "layer", true);
    };
    a.work = [](const DualDecoder& o) { return blockWork(o, stackOf(o), o.n_layers); };
    a.dual = true;
    a.opened = true;
    return a;
}());

}  // namespace
}  // namespace relascope::core
