// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the sequence-to-sequence models (DAT 4.2).
#include "model/blocks/block_info.h"
#include "model/seq2seq/pair_config.h"
#include "model/seq2seq/seq2seq_options.h"

namespace relascope::core {

StackOptions encoderOf(const Seq2SeqTransformerOptions& o) {
    StackOptions s;
    s.block = o;
    s.d_model = o.d_model;
    s.causal = o.causal;
    s.rope = o.rope;
    s.feedForwardBias = o.bias;
    return s;
}

StackOptions encoderOf(const Seq2SeqDualAttnTransformerOptions& o) {
    auto s = encoderOf(static_cast<const Seq2SeqTransformerOptions&>(o));
    s.dual = true;
    return s;
}

StackOptions decoderOf(const Seq2SeqTransformerOptions& o) {
    StackOptions s;
    s.block = o.decoder;
    s.d_model = o.d_model;
    s.causal = o.decoder.causal;
    s.feedForwardBias = o.decoder.bias;
    s.decoder = true;
    // The published plain decoder takes its own number of heads here and ignores n_heads_cross.
    s.crossHeads = o.decoder.n_heads_sa;
    s.crossBiasOut = o.decoder.bias;
    return s;
}

StackOptions decoderOf(const Seq2SeqDualAttnTransformerOptions& o) {
    auto s = decoderOf(static_cast<const Seq2SeqTransformerOptions&>(o));
    s.dual = true;
    s.crossHeads = o.n_heads_cross;
    s.crossKeyHeads = o.cross_n_kv_heads;
    s.crossKeyDim = o.cross_key_dim;
    s.crossBiasKv = o.cross_add_bias_kv;
    s.crossBiasOut = o.cross_add_bias_out;
    return s;
}

namespace {

using Plain = Seq2SeqTransformerOptions;
using Dual = Seq2SeqDualAttnTransformerOptions;

template <class Options>
FieldTable<Options> sequenceFields() {
    using namespace fields;
    constexpr bool dual = kDual<Options>;
    auto decoder = kPlainBlock;
    decoder.push_back("causal");
    FieldTable<Options> own = {
        integer<Options>(&Options::n_heads_cross, "n_heads_cross", "Cross heads",
                         "Heads of the decoder that attend to the encoder.", 1, 1024)};
    FieldTable<Options> symbolFields;
    if constexpr (dual) {
        symbolFields = symbols<Dual>(
            kSymbolKinds, [](const Dual& o) { return o.longest(); },
            [](const Dual& o) { return o.n_heads_ra > 0 || o.decoder.n_heads_ra > 0; });
        own.push_back(advanced(
            automatic(integer(&Dual::cross_n_kv_heads, "cross_n_kv_heads", "Cross key heads",
                              "Number of key and value heads, shared by groups of cross heads; 0 "
                              "means one per head.",
                              0, 1024),
                      [](const Dual& o) { return o.n_heads_cross; })));
        own.push_back(advanced(automatic(
            integer(&Dual::cross_key_dim, "cross_key_dim", "Cross key width",
                    "Width of the cross queries and keys; 0 means the head width.", 0, 65536),
            [](const Dual& o) { return o.d_model / std::max<std::int64_t>(1, o.n_heads_cross); })));
        own.push_back(
            advanced(boolean(&Dual::cross_add_bias_kv, "cross_add_bias_kv", "Cross key bias",
                             "Adds a bias to the cross key and value projections.")));
        own.push_back(
            advanced(boolean(&Dual::cross_add_bias_out, "cross_add_bias_out", "Cross output bias",
                             "Adds a bias to the cross output projection.")));
    }
    own.push_back(advanced(boolean<Options>(&Options::tie_weights, "tie_weights", "Second name",
                                            "Stores the output layer under a second name, as in "
                                            "the published code; no weights are tied.")));
    return joined<Options>(
        {of<Options>(encoderDecoderDepth()), of<Options>(stream()),
         block<Options>(dual ? dualBlock({"rope"}) : plainBlock(plainHeads({"causal"})), dual),
         symbolFields,
         block<Options>(
             dual ? dualBlock({"rope"}) : plainBlock(decoder), dual,
             [](auto& o) -> auto& { return o.decoder; }, true),
         own, of<Options>(pairInput())});
}

template <class Options>
void problems(const Options& o, ProblemList& list) {
    list.atLeast("n_layers_dec", o.n_layers_dec, 1);
    if (!list.empty()) return;
    list.add(o.BlockOptions::problems(o.d_model, kDual<Options>, o.rope));
    list.add(o.decoder.problems(o.d_model, kDual<Options>, false), "decoder.");
    const auto plan = decoderOf(o);
    const auto cross = plan.crossHeads, keyHeads = plan.crossKeyHeads;
    if (cross < 1 || o.d_model % cross != 0)
        list.refuse("n_heads_cross", std::to_string(cross) + " heads do not divide the width " +
                                         std::to_string(o.d_model));
    else if (keyHeads > 0 && cross % keyHeads != 0)
        list.refuse("cross_n_kv_heads", std::to_string(keyHeads) + " does not divide the " +
                                            std::to_string(cross) + " heads");
    list.evenWidth(o.d_model);
    if constexpr (kDual<Options>) {
        list.blockSymbols(o, o.d_model);
    }
}

template <class Options>
void shapes(const Options& o, ShapeList& list) {
    const std::string layers = "layers.";
    addEmbedderShapes(list, layers + "source_embedder", o.input_type, o.input_size, o.d_model);
    addEmbedderShapes(list, layers + "target_embedder", o.output_type, o.output_size, o.d_model);
    const std::string out = layers + "final_out", second = layers + "target_embedder.weights";
    if (o.tie_weights) list.linear(second, o.d_model, o.out_dim);
    list.buffer(layers + "source_pos_embedder.pe", {o.in_block_size, o.d_model});
    list.buffer(layers + "target_pos_embedder.pe", {o.out_block_size, o.d_model});
    if constexpr (kDual<Options>)
        addSymbolShapes(list, layers + "symbol_retriever", o, o.d_model, o.longest());
    addBlockShapes(list, layers + "encoder_blocks", o.n_layers_enc, encoderOf(o));
    addBlockShapes(list, layers + "decoder_blocks", o.n_layers_dec, decoderOf(o));
    if (o.tie_weights)
        list.aliasOfLinear(out, second, true);
    else
        list.linear(out, o.d_model, o.out_dim);
}

template <class Options>
void outline(const Options& o, OutlineBuilder& builder) {
    builder.add("source embedding", "layers.source_embedder",
                sequenceText(o.input_type, o.input_size));
    builder.add("target embedding", "layers.target_embedder",
                sequenceText(o.output_type, o.output_size));
    if constexpr (kDual<Options>)
        builder.add("symbols", "layers.symbol_retriever",
                    symbolText(o, o.longest()) + ", for both sides");
    addBlockOutline(builder, "encoder", "layers.encoder_blocks", o.n_layers_enc, encoderOf(o));
    addBlockOutline(builder, "decoder", "layers.decoder_blocks", o.n_layers_dec, decoderOf(o));
    builder.add("output", "layers.final_out", std::to_string(o.out_dim) + " scores");
}

template <class Options>
std::vector<LayerPlace> layers(const Options& o) {
    std::vector<LayerPlace> places;
    addLayers(places, "layers.encoder_blocks.", o.n_layers_enc, "encoder", o.causal);
    for (std::int64_t i = 0; i < o.n_layers_dec; ++i)
        addDecoderLayer(places, "layers.decoder_blocks." + std::to_string(i),
                        "decoder " + std::to_string(i + 1), kSourceSide, o.decoder.causal);
    return places;
}

template <class Options>
void readConfig(Options& o, JsonArguments& a) {
    setConstructorDefaults(o, kDual<Options>);
    setConstructorDefaults(o.decoder, kDual<Options>);
    o.decoder.causal = kDual<Options>;
    o.tie_weights = true;
    readPairConfig(o, o, o, a);
    a.read("tie_weights", o.tie_weights);
    if constexpr (kDual<Options>) a.read("symbol_retrieval", o.symbol_retrieval);
    auto encoder = a.sub("encoder_kwargs"), decoder = a.sub("decoder_kwargs");
    readBlockConfig(o, encoder);
    readBlockConfig(o.decoder, decoder);
    encoder.read("causal", o.causal);
    decoder.read("causal", o.decoder.causal);
    decoder.require({"n_heads_cross"});
    decoder.read("n_heads_cross", o.n_heads_cross);
    if constexpr (kDual<Options>) {
        readDualHeadsConfig(o, encoder, o.symbol_retrieval);
        readDualHeadsConfig(o.decoder, decoder, o.symbol_retrieval);
        readAttentionConfig(decoder.sub("cross_kwargs"), o.cross_n_kv_heads, o.cross_key_dim,
                            o.cross_add_bias_kv, &o.cross_add_bias_out);
        readSymbolsConfig(o, o.d_model, a.sub("symbol_retrieval_kwargs"));
    } else {
        encoder.require({"n_heads"});
        decoder.require({"n_heads"});
        encoder.read("n_heads", o.n_heads_sa);
        decoder.read("n_heads", o.decoder.n_heads_sa);
        readAttentionConfig(encoder.sub("attn_kwargs"), o.sa_n_kv_heads, o.sa_key_dim,
                            o.sa_add_bias_kv, nullptr);
    }
    encoder.done();
    decoder.done();
}

template <class Options>
ConfigJson writeConfig(const Options& o) {
    ConfigJson a = pairConfig(o, o, o), encoder, decoder;
    writeBlockConfig(encoder, o);
    writeBlockConfig(decoder, o.decoder);
    encoder["causal"] = o.causal;
    decoder["causal"] = o.decoder.causal;
    decoder["n_heads_cross"] = o.n_heads_cross;
    if constexpr (kDual<Options>) {
        a["symbol_retrieval"] = o.symbol_retrieval;
        a["symbol_retrieval_kwargs"] = symbolsConfig(o, o.d_model, o.longest());
        writeDualHeadsConfig(encoder, o, o.symbol_retrieval);
        writeDualHeadsConfig(decoder, o.decoder, o.symbol_retrieval);
        decoder["cross_kwargs"] = {{"n_kv_heads", orNull(o.cross_n_kv_heads)},
                                   {"key_dim", orNull(o.cross_key_dim)},
                                   {"add_bias_kv", o.cross_add_bias_kv},
                                   {"add_bias_out", o.cross_add_bias_out}};
    } else {
        encoder["n_heads"] = o.n_heads_sa;
        encoder["attn_kwargs"] = plainAttentionConfig(o);
        decoder["n_heads"] = o.decoder.n_heads_sa;
    }
    a["encoder_kwargs"] = encoder;
    a["decoder_kwargs"] = decoder;
    a["tie_weights"] = o.tie_weights;
    a["loss_ignore_idx"] = o.loss_ignore_idx;
    return a;
}

template <class Options>
Architecture<Options> sequences(const char* name, const char* title, int order) {
    Architecture<Options> a;
    a.name = name;
    a.title = title;
    a.order = order;
    a.fields = sequenceFields<Options>();
    a.problems = problems<Options>;
    a.shapes = shapes<Options>;
    a.outline = outline<Options>;
    a.layers = layers<Options>;
    a.work = [](const Options& o) {
        return blockWork(o, encoderOf(o), o.n_layers_enc + o.n_layers_dec);
    };
    a.readConfig = readConfig<Options>;
    a.writeConfig = writeConfig<Options>;
    a.dual = kDual<Options>;
    return a;
}

const RegisterArchitecture dual([] {
    auto a =
        sequences<Dual>("Seq2SeqDualAttnTransformer", "Dual Attention Transformer, seq2seq", 90);
    a.text = [](const Dual& o) { return "DAT seq2seq " + headsText(o); };
    // Each decoder block has two layers: self-attention and cross-attention.
    a.symbolLayer = [](const Dual& o, const std::string&, int retrieval) {
        const int encoders = static_cast<int>(o.n_layers_enc);
        return retrieval < encoders
                   ? "layers.encoder_blocks." + std::to_string(retrieval)
                   : "layers.decoder_blocks." + std::to_string(retrieval - encoders);
    };
    // The published class ignores n_layers_dec and builds as many decoder blocks as encoder blocks.
    a.readTensors = [](Dual& o, const auto& shape) {
        const auto block = [&](std::int64_t i) {
            return !shape("layers.decoder_blocks." + std::to_string(i) + ".ff_block.linear1.weight")
                        .empty();
        };
        const auto n = o.n_layers_enc;
        if (o.n_layers_dec != n && n > 0 && block(n - 1) && !block(n)) o.n_layers_dec = n;
    };
    return a;
}());

const RegisterArchitecture plain([] {
    auto a = sequences<Plain>("Seq2SeqTransformer", "Transformer, seq2seq", 100);
    a.text = [](const Plain& o) {
        return "Transformer seq2seq " + std::to_string(o.n_heads_sa) + " heads";
    };
    return a;
}());

}  // namespace
}  // namespace relascope::core
