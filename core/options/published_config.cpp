#include "options/published_config.h"

#include "options/field_text.h"
#include "options/json_arguments.h"
#include "types/suggest.h"

namespace relascope {
namespace {

using Json = JsonArguments::Json;
using Arguments = JsonArguments;

void readSymbols(ModelOptions& m, Arguments a) {
    std::int64_t width = m.d_model;
    if (m.symbol_retrieval == "positional_symbols") {
        a.read("symbol_dim", width);
        a.read("max_length", m.max_length);
        a.has("sinusoidal");  // stored by some checkpoints, ignored by the published code
    } else if (m.symbol_retrieval == "position_relative") {
        a.read("symbol_dim", width);
        a.read("max_rel_pos", m.max_rel_pos);
    } else if (m.symbol_retrieval == "symbolic_attention") {
        a.read("d_model", width);
        a.read("n_heads", m.symbol_heads);
        a.read("n_symbols", m.n_symbols);
        a.read("dropout", m.symbol_dropout);
        a.read("scale", m.symbol_scale);
        a.read("trainable_symbols", m.trainable_symbols);
    } else if (m.symbol_retrieval == "rel_sym_attn") {
        a.read("d_model", width);
        a.read("rel_n_heads", m.rel_n_heads);
        a.read("symbolic_attn_n_heads", m.symbol_heads);
        a.read("n_symbols", m.n_symbols);
        a.read("nbhd_delta", m.nbhd_delta);
        a.read("causal_nbhd", m.causal_nbhd);
        a.read("include_self", m.include_self);
        a.read("normalize_rels", m.normalize_rels);
        a.read("dropout", m.symbol_dropout);
        a.read("rel_scale", m.rel_scale);
        a.read("symbolic_attn_scale", m.symbol_scale);
    } else {
        throw OptionError("symbol_retrieval",
                          "unknown symbol assignment '" + m.symbol_retrieval + "'");
    }
    a.done();
    if (width != m.d_model)
        throw OptionError("symbol_retrieval_kwargs", "symbols of width " + std::to_string(width) +
                                                         " do not fit the model's " +
                                                         std::to_string(m.d_model));
}

// What every block constructor takes, in the names of the plain or of the dual one.
void readBlock(BlockOptions& b, Arguments& a) {
    a.read("dff", b.dff);
    a.read("dropout_rate", b.dropout_rate);
    a.read("activation", b.activation);
    a.read("norm_first", b.norm_first);
    a.read("norm_type", b.norm_type);
    a.read("bias", b.bias);
}

void readAttention(Arguments a, std::int64_t& kvHeads, std::int64_t& keyDim, bool& biasKv,
                   bool* biasOut) {
    a.read("n_kv_heads", kvHeads);
    a.read("key_dim", keyDim);
    a.read("add_bias_kv", biasKv);
    if (biasOut) a.read("add_bias_out", *biasOut);
    a.done();
}

void readHeads(BlockOptions& b, Arguments& a, const std::string& symbols) {
    a.require({"n_heads_sa", "n_heads_ra"});
    a.read("n_heads_sa", b.n_heads_sa);
    a.read("n_heads_ra", b.n_heads_ra);
    a.read("ra_type", b.ra_type);
    a.read("share_attn_params", b.share_attn_params);
    readAttention(a.sub("sa_kwargs"), b.sa_n_kv_heads, b.sa_key_dim, b.sa_add_bias_kv,
                  &b.sa_add_bias_out);
    bool relative = false;
    auto ra = a.sub("ra_kwargs");
    ra.read("n_kv_heads", b.ra_n_kv_heads);
    ra.read("add_bias_kv", b.ra_add_bias_kv);
    ra.read("add_bias_out", b.ra_add_bias_out);
    ra.read("use_relative_positional_symbols", relative);
    if (b.ra_type == "relational_attention") {
        ra.read("key_dim", b.ra_key_dim);
        ra.read("n_relations", b.n_relations);
        ra.read("rel_proj_dim", b.rel_proj_dim);
        ra.read("rel_activation", b.rel_activation);
        ra.read("symmetric_rels", b.symmetric_rels);
    } else if (b.ra_type == "disrca") {
        ra.read("rel_activation", b.rel_activation);
    } else if (b.ra_type == "rca") {
        ra.read("activation", b.rca_activation);
    } else {
        throw OptionError(a.key("ra_type"), "unknown relational attention '" + b.ra_type + "'");
    }
    ra.done();
    if (b.n_heads_ra > 0 && relative != (symbols == "position_relative"))
        throw OptionError(a.key("ra_kwargs.use_relative_positional_symbols"),
                          "contradicts symbol_retrieval " + symbols);
}

// The published constructors' defaults, where they differ from our presets'.
ModelOptions constructorDefaults(const std::string& architecture) {
    ModelOptions m;
    m.architecture = architecture;
    m.bias = m.decoder.bias = true;
    m.symmetric_rels = m.decoder.symmetric_rels = false;
    m.dff = m.decoder.dff = 0;
    m.decoder.causal = architecture == "Seq2SeqDualAttnTransformer";
    if (!m.isDual()) m.n_heads_ra = m.decoder.n_heads_ra = 0;
    if (m.isVision()) m.pool = "cls";
    if (m.isLanguage()) m.pos_enc_type = "pos_emb";
    if (m.isSeq2Seq()) m.tie_weights = true;
    if (m.is("DualAttnTransformerLM")) m.symbol_retrieval = "symbolic_attention";
    return m;
}

void readVision(ModelOptions& m, Arguments& a) {
    a.require({"image_shape", "patch_size", "num_classes", "d_model", "n_layers", "dff",
               "dropout_rate", "activation", "norm_first"});
    a.read("image_shape", m.image_shape, 3);
    a.read("patch_size", m.patch_size, 2);
    a.read("num_classes", m.num_classes);
    a.read("d_model", m.d_model);
    a.read("n_layers", m.n_layers);
    a.read("pool", m.pool);
    a.read("final_norm", m.final_norm);
    readBlock(m, a);
    if (m.isDual()) {
        a.read("symbol_retrieval", m.symbol_retrieval);
        readHeads(m, a, m.symbol_retrieval);
        readSymbols(m, a.sub("symbol_retrieval_kwargs"));
    } else {
        a.read("n_heads", m.n_heads_sa);
    }
}

void readLanguage(ModelOptions& m, Arguments& a) {
    a.require({"vocab_size", "d_model", "n_layers", "max_block_size"});
    a.read("vocab_size", m.vocab_size);
    a.read("d_model", m.d_model);
    a.read("n_layers", m.n_layers);
    a.read("max_block_size", m.max_block_size);
    a.read("pos_enc_type", m.pos_enc_type);
    readBlock(m, a);
    if (m.isDual()) {
        a.read("symbol_retrieval", m.symbol_retrieval);
        readHeads(m, a, m.symbol_retrieval);
        readSymbols(m, a.sub("symbol_retrieval_kwargs"));
        auto sharing = a.sub("symbol_retriever_config");
        sharing.read("shared_symbol_retriever", m.shared_symbol_retriever);
        sharing.read("weight_tie_symbol_library", m.weight_tie_symbol_library);
        sharing.done();
    } else {
        a.require({"n_heads"});
        a.read("n_heads", m.n_heads_sa);
        a.has("use_flash_attention");  // how, not what
        auto block = a.sub("block_kwargs");
        readAttention(block.sub("attn_kwargs"), m.sa_n_kv_heads, m.sa_key_dim, m.sa_add_bias_kv,
                      nullptr);
        block.done();
    }
    // Research configurations; only what the published class does can be honoured.
    a.neutral("use_rope", m.pos_enc_type == "RoPE");
    a.neutral("update_symbols_each_layer", true);
    a.neutral("attn_kwargs", nullptr);
    a.neutral("symmetric_attn", false);
    a.neutral("final_norm", true);
}

void readSide(Arguments a, const char* sizes[2], std::string& type, std::int64_t& size) {
    a.require({"type"});
    a.read("type", type);
    if (type != "token" && type != "vector")
        throw OptionError(a.key("type"), "'" + type + "' must be token or vector");
    const char* key = sizes[type == "vector"];
    a.require({key});
    a.read(key, size, 1);
    a.done();
}

void readSides(ModelOptions& m, Arguments& a) {
    const char* sizes[2] = {"vocab_size", "dim"};
    a.require({"input_spec", "output_spec", "d_model", "out_dim", "n_layers_enc", "n_layers_dec",
               "in_block_size", "out_block_size"});
    readSide(a.sub("input_spec"), sizes, m.input_type, m.input_size);
    readSide(a.sub("output_spec"), sizes, m.output_type, m.output_size);
    a.read("d_model", m.d_model);
    a.read("out_dim", m.out_dim);
    a.read("n_layers_enc", m.n_layers_enc);
    a.read("n_layers_dec", m.n_layers_dec);
    a.read("in_block_size", m.in_block_size);
    a.read("out_block_size", m.out_block_size);
    a.read("loss_ignore_idx", m.loss_ignore_idx, -1'000'000);
}

void readSeq2Seq(ModelOptions& m, Arguments& a) {
    readSides(m, a);
    a.read("tie_weights", m.tie_weights);
    if (m.isDual()) a.read("symbol_retrieval", m.symbol_retrieval);
    auto encoder = a.sub("encoder_kwargs"), decoder = a.sub("decoder_kwargs");
    readBlock(m, encoder);
    readBlock(m.decoder, decoder);
    encoder.read("causal", m.causal);
    decoder.read("causal", m.decoder.causal);
    decoder.require({"n_heads_cross"});
    decoder.read("n_heads_cross", m.n_heads_cross);
    if (m.isDual()) {
        readHeads(m, encoder, m.symbol_retrieval);
        readHeads(m.decoder, decoder, m.symbol_retrieval);
        readAttention(decoder.sub("cross_kwargs"), m.cross_n_kv_heads, m.cross_key_dim,
                      m.cross_add_bias_kv, &m.cross_add_bias_out);
        readSymbols(m, a.sub("symbol_retrieval_kwargs"));
    } else {
        encoder.require({"n_heads"});
        decoder.require({"n_heads"});
        encoder.read("n_heads", m.n_heads_sa);
        decoder.read("n_heads", m.decoder.n_heads_sa);
        readAttention(encoder.sub("attn_kwargs"), m.sa_n_kv_heads, m.sa_key_dim, m.sa_add_bias_kv,
                      nullptr);
    }
    encoder.done();
    decoder.done();
}

void readAbstractor(ModelOptions& m, Arguments& a) {
    readSides(m, a);
    a.require({"n_layers_abs", "n_heads", "dff"});
    m.abstractor_architecture = m.n_layers_enc == 0 ? "a" : "b";
    m.symbol_retrieval = "learned";
    m.dropout_rate = 0.0;
    a.read("abstractor_architecture", m.abstractor_architecture);
    a.read("decoder_contexts", m.decoder_contexts);
    a.read("n_abstractors", m.n_abstractors, 1);
    a.read("n_layers_abs", m.n_layers_abs);
    a.read("n_heads", m.n_heads_sa);
    a.read("n_heads_abs", m.n_heads_abs);
    a.read("key_dim", m.key_dim);
    a.read("dff", m.dff);
    a.read("dff_abs", m.dff_abs);
    a.read("dropout_rate", m.dropout_rate);
    a.read("use_self_attn", m.use_self_attn);
    a.read("relational", m.relational);
    a.read("abs_feed_forward", m.abs_feed_forward);
    a.read("abs_residual", m.abs_residual);
    a.read("abs_norm", m.abs_norm);
    a.read("abs_norm_first", m.abs_norm_first);
    a.read("rca_activation", m.rca_activation);
    a.read("rca_scaled", m.rca_scaled);
    a.read("symmetric_rels", m.symmetric_rels);
    a.read("mask_diagonal", m.mask_diagonal);
    a.read("symbol_positions", m.symbol_positions);
    a.read("symbol_retrieval", m.symbol_retrieval);
    auto symbols = a.sub("symbol_retrieval_kwargs");
    if (m.symbol_retrieval != "learned" && m.symbol_retrieval != "sinusoidal")
        readSymbols(m, std::move(symbols));
    else
        symbols.done();
    if (m.rca_activation == "linear") m.rca_activation = "identity";
}

void readMessagePassing(ModelOptions& m, Arguments& a) {
    a.require({"n_objects", "dim", "d_model", "n_layers", "n_relations", "proj_dim", "dff",
               "hidden", "out_dim"});
    bool norm = false;
    m.rel_activation = "sigmoid";
    m.use_self_attn = false;
    m.dropout_rate = 0.0;
    a.read("n_objects", m.n_objects);
    a.read("dim", m.object_dim);
    a.read("d_model", m.d_model);
    a.read("n_layers", m.n_layers);
    a.read("n_relations", m.n_relations);
    a.read("proj_dim", m.rel_proj_dim);
    a.read("symmetric", m.symmetric_rels);
    a.read("sigma", m.rel_activation);
    a.read("softmax", m.message_softmax);
    a.read("symbol_dim", m.symbol_dim);
    a.read("dff", m.dff);
    a.read("use_self_attn", m.use_self_attn);
    a.read("use_norm", norm);
    m.n_heads_sa = m.n_relations;  // of the self-attention, where nothing else is said
    a.read("n_heads", m.n_heads_sa);
    a.read("key_dim", m.key_dim);
    a.read("dropout_rate", m.dropout_rate);
    a.read("hidden", m.hidden);
    a.read("out_dim", m.out_dim);
    m.abs_norm = norm ? "layernorm" : "none";
    if (m.rel_activation == "linear") m.rel_activation = "identity";
}

void readImageBaseline(ModelOptions& m, Arguments& a) {
    a.require({"image_shape", "patch_size", "d_model"});
    a.read("image_shape", m.image_shape, 3);
    a.read("patch_size", m.patch_size, 2);
    a.read("d_model", m.d_model);
    a.read(m.is("PrediNet") ? "n_classes" : "num_classes", m.num_classes);
    if (m.is("PrediNet")) {
        a.require({"n_heads", "n_relations"});
        a.read("n_heads", m.n_heads_sa);
        a.read("n_relations", m.n_relations);
        a.read("key_dim", m.key_dim);
    }
    if (!m.is("AbstractorModel")) return;
    auto k = a.sub("abstractor_kwargs");
    k.require({"n_layers", "n_heads", "dff", "symbol_retriever_type"});
    std::string symbols;
    k.read("n_layers", m.n_layers);
    k.read("n_heads", m.n_heads_sa);
    k.read("dff", m.dff);
    k.read("use_self_attn", m.use_self_attn);
    k.read("dropout_rate", m.dropout_rate);
    k.read("activation", m.activation);
    k.read("norm_first", m.norm_first);
    k.read("symbol_retriever_type", symbols);
    k.neutral("symbol_add_pos_embedding", false);
    k.has("max_len");
    m.symbol_retrieval = symbols == "positional" ? "positional_symbols"
                         : symbols == "symbolic" ? "symbolic_attention"
                                                 : symbols;
    readSymbols(m, k.sub("symbol_retriever_kwargs"));
    k.done();
}

void readObjectBaseline(ModelOptions& m, Arguments& a) {
    a.require({"n_objects", "object_dim"});
    m.dropout_rate = 0.0;
    for (const auto& field : ModelOptions::fieldTable()) {
        const char* name = field.spec.name.c_str();
        if (field.spec.name == "architecture" || !field.applies(m)) continue;
        std::visit(
            [&](auto value) {
                if constexpr (std::is_same_v<decltype(value), std::vector<std::int64_t>>)
                    a.read(name, value, 0);
                else
                    a.read(name, value);
                field.set(m, value);
            },
            field.get(m));
    }
}

// The class that bare arguments belong to: told by their keys.
std::string classOf(const Json& arguments) {
    const auto has = [&](const char* key) { return arguments.contains(key); };
    const auto dual = [](const Json& a) { return a.is_object() && a.contains("n_heads_ra"); };
    if (has("image_shape"))
        return dual(arguments) ? "VisionDualAttnTransformer" : "VisionTransformer";
    if (has("input_spec")) {
        if (has("n_layers_abs")) return "Seq2SeqAbstractor";
        return has("encoder_kwargs") && dual(arguments["encoder_kwargs"])
                   ? "Seq2SeqDualAttnTransformer"
                   : "Seq2SeqTransformer";
    }
    if (has("vocab_size")) return dual(arguments) ? "DualAttnTransformerLM" : "TransformerLM";
    throw Error(
        "is not a model configuration: it has neither 'class' and 'arguments' nor the keys of a "
        "published model (vocab_size, image_shape or input_spec)");
}

Json parseShallow(const std::string& text) {
    bool deep = false;
    const auto limit = [&deep](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > 32;
        return !deep;
    };
    Json json = Json::parse(text, limit, false);
    if (deep) throw Error("is nested too deeply for a configuration");
    if (!json.is_object()) throw Error("is not a JSON object");
    return json;
}

}  // namespace

ModelOptions modelFromPublishedConfig(const std::string& text) {
    const Json json = parseShallow(text);
    const bool named = json.contains("class") && json.contains("arguments");
    if (named && !json["class"].is_string()) throw OptionError("class", "is not a string");
    const std::string name = named ? json["class"].get<std::string>() : classOf(json);
    const auto& known = ModelOptions::architectures();
    if (std::find(known.begin(), known.end(), name) == known.end())
        throw OptionError("class", unknownName("model class", name, known));
    ModelOptions m = constructorDefaults(name);
    Arguments a(named ? json["arguments"] : json, named ? "arguments" : "");
    if (m.isVision())
        readVision(m, a);
    else if (m.isLanguage())
        readLanguage(m, a);
    else if (m.isSeq2Seq())
        readSeq2Seq(m, a);
    else if (m.isSeq2SeqAbstractor())
        readAbstractor(m, a);
    else if (m.is("MessagePassingAbstractor"))
        readMessagePassing(m, a);
    else if (m.input() == InputKind::Images)
        readImageBaseline(m, a);
    else
        readObjectBaseline(m, a);
    a.done();
    // Bounds first, so that nothing below has to survive a billion layers.
    for (const auto& field : ModelOptions::fieldTable())
        if (field.applies(m)) checkFieldValue(a.key(field.spec.name), field.spec, field.get(m));
    m.check();
    return m;
}

}  // namespace relascope
