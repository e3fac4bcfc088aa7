#include <nlohmann/json.hpp>

#include "options/published_config.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;

Json orNull(std::int64_t n) {
    return n > 0 ? Json(n) : Json(nullptr);
}
Json orNull(double x) {
    return x > 0 ? Json(x) : Json(nullptr);
}

Json symbolArguments(const ModelOptions& m) {
    if (m.symbol_retrieval == "positional_symbols")
        return {{"symbol_dim", m.d_model}, {"max_length", m.symbolRows()}};
    if (m.symbol_retrieval == "position_relative")
        return {{"symbol_dim", m.d_model}, {"max_rel_pos", m.largestOffset()}};
    if (m.symbol_retrieval == "symbolic_attention")
        return {{"d_model", m.d_model},
                {"n_heads", m.symbol_heads},
                {"n_symbols", m.n_symbols},
                {"dropout", m.symbol_dropout},
                {"scale", orNull(m.symbol_scale)},
                {"trainable_symbols", m.trainable_symbols}};
    if (m.symbol_retrieval == "rel_sym_attn")
        return {{"d_model", m.d_model},
                {"rel_n_heads", m.rel_n_heads},
                {"symbolic_attn_n_heads", m.symbol_heads},
                {"n_symbols", m.n_symbols},
                {"nbhd_delta", m.nbhd_delta},
                {"causal_nbhd", m.causal_nbhd},
                {"include_self", m.include_self},
                {"normalize_rels", m.normalize_rels},
                {"dropout", m.symbol_dropout},
                {"rel_scale", orNull(m.rel_scale)},
                {"symbolic_attn_scale", orNull(m.symbol_scale)}};
    return nullptr;
}

void addBlock(Json& a, const BlockOptions& b) {
    a["dff"] = orNull(b.dff);
    a["dropout_rate"] = b.dropout_rate;
    a["activation"] = b.activation;
    a["norm_first"] = b.norm_first;
    a["norm_type"] = b.norm_type;
    a["bias"] = b.bias;
}

void addHeads(Json& a, const BlockOptions& b, const std::string& symbols) {
    a["n_heads_sa"] = b.n_heads_sa;
    a["n_heads_ra"] = b.n_heads_ra;
    a["ra_type"] = b.ra_type;
    a["share_attn_params"] = b.share_attn_params;
    a["sa_kwargs"] = {{"n_kv_heads", orNull(b.sa_n_kv_heads)},
                      {"key_dim", orNull(b.sa_key_dim)},
                      {"add_bias_kv", b.sa_add_bias_kv},
                      {"add_bias_out", b.sa_add_bias_out}};
    Json ra = {{"n_kv_heads", orNull(b.ra_n_kv_heads)},
               {"add_bias_kv", b.ra_add_bias_kv},
               {"add_bias_out", b.ra_add_bias_out},
               {"use_relative_positional_symbols", symbols == "position_relative"}};
    if (b.ra_type == "relational_attention") {
        ra["key_dim"] = orNull(b.ra_key_dim);
        ra["n_relations"] = orNull(b.n_relations);
        ra["rel_proj_dim"] = orNull(b.rel_proj_dim);
        ra["rel_activation"] = b.rel_activation;
        ra["symmetric_rels"] = b.symmetric_rels;
    } else if (b.ra_type == "disrca") {
        ra["rel_activation"] = b.rel_activation;
    } else {
        ra["activation"] = b.rca_activation;
    }
    a["ra_kwargs"] = ra;
}

Json plainAttention(const BlockOptions& b) {
    return {{"n_kv_heads", orNull(b.sa_n_kv_heads)},
            {"key_dim", orNull(b.sa_key_dim)},
            {"add_bias_kv", b.sa_add_bias_kv}};
}

Json visionArguments(const ModelOptions& m) {
    Json a = {{"image_shape", m.image_shape}, {"patch_size", m.patch_size},
              {"num_classes", m.num_classes}, {"d_model", m.d_model},
              {"n_layers", m.n_layers},       {"pool", m.pool}};
    addBlock(a, m);
    if (m.final_norm) a["final_norm"] = true;
    if (m.isDual()) {
        a["symbol_retrieval"] = m.symbol_retrieval;
        a["symbol_retrieval_kwargs"] = symbolArguments(m);
        addHeads(a, m, m.symbol_retrieval);
        // Ours alone: the published image model cannot be asked for it.
        if (!m.share_attn_params) a.erase("share_attn_params");
    } else {
        a["n_heads"] = m.n_heads_sa;
    }
    return a;
}

Json languageArguments(const ModelOptions& m) {
    Json a = {{"vocab_size", m.vocab_size},
              {"d_model", m.d_model},
              {"n_layers", m.n_layers},
              {"max_block_size", m.max_block_size},
              {"pos_enc_type", m.pos_enc_type}};
    addBlock(a, m);
    if (m.isDual()) {
        a["symbol_retrieval"] = m.symbol_retrieval;
        a["symbol_retrieval_kwargs"] = symbolArguments(m);
        a["symbol_retriever_config"] = {{"shared_symbol_retriever", m.shared_symbol_retriever},
                                        {"weight_tie_symbol_library", m.weight_tie_symbol_library}};
        addHeads(a, m, m.symbol_retrieval);
    } else {
        a["n_heads"] = m.n_heads_sa;
        a["block_kwargs"] = {{"attn_kwargs", plainAttention(m)}};
    }
    return a;
}

Json sides(const ModelOptions& m) {
    const auto side = [](const std::string& type, std::int64_t size) {
        return Json{{"type", type}, {type == "token" ? "vocab_size" : "dim", size}};
    };
    return {{"input_spec", side(m.input_type, m.input_size)},
            {"output_spec", side(m.output_type, m.output_size)},
            {"d_model", m.d_model},
            {"out_dim", m.out_dim},
            {"n_layers_enc", m.n_layers_enc},
            {"n_layers_dec", m.n_layers_dec},
            {"in_block_size", m.in_block_size},
            {"out_block_size", m.out_block_size}};
}

Json seq2seqArguments(const ModelOptions& m) {
    Json a = sides(m), encoder, decoder;
    addBlock(encoder, m);
    addBlock(decoder, m.decoder);
    encoder["causal"] = m.causal;
    decoder["causal"] = m.decoder.causal;
    decoder["n_heads_cross"] = m.n_heads_cross;
    if (m.isDual()) {
        a["symbol_retrieval"] = m.symbol_retrieval;
        a["symbol_retrieval_kwargs"] = symbolArguments(m);
        addHeads(encoder, m, m.symbol_retrieval);
        addHeads(decoder, m.decoder, m.symbol_retrieval);
        decoder["cross_kwargs"] = {{"n_kv_heads", orNull(m.cross_n_kv_heads)},
                                   {"key_dim", orNull(m.cross_key_dim)},
                                   {"add_bias_kv", m.cross_add_bias_kv},
                                   {"add_bias_out", m.cross_add_bias_out}};
    } else {
        encoder["n_heads"] = m.n_heads_sa;
        encoder["attn_kwargs"] = plainAttention(m);
        decoder["n_heads"] = m.decoder.n_heads_sa;
    }
    a["encoder_kwargs"] = encoder;
    a["decoder_kwargs"] = decoder;
    a["tie_weights"] = m.tie_weights;
    a["loss_ignore_idx"] = m.loss_ignore_idx;
    return a;
}

Json abstractorArguments(const ModelOptions& m) {
    Json a = sides(m);
    a["loss_ignore_idx"] = m.loss_ignore_idx;
    a["abstractor_architecture"] = m.abstractor_architecture;
    a["decoder_contexts"] = m.decoder_contexts;
    a["n_abstractors"] = m.n_abstractors;
    a["n_layers_abs"] = m.n_layers_abs;
    a["n_heads"] = m.n_heads_sa;
    a["n_heads_abs"] = orNull(m.n_heads_abs);
    a["key_dim"] = m.keyDim();
    a["dff"] = m.dff;
    a["dff_abs"] = orNull(m.dff_abs);
    a["dropout_rate"] = m.dropout_rate;
    a["use_self_attn"] = m.use_self_attn;
    a["relational"] = m.relational;
    a["abs_feed_forward"] = m.abs_feed_forward;
    a["abs_residual"] = m.abs_residual;
    a["abs_norm"] = m.abs_norm;
    a["abs_norm_first"] = m.abs_norm_first;
    a["rca_activation"] = m.rca_activation;
    a["rca_scaled"] = m.rca_scaled;
    a["symmetric_rels"] = m.symmetric_rels;
    a["mask_diagonal"] = m.mask_diagonal;
    a["symbol_positions"] = m.symbol_positions;
    a["symbol_retrieval"] = m.symbol_retrieval;
    a["symbol_retrieval_kwargs"] = symbolArguments(m);
    return a;
}

Json imageBaselineArguments(const ModelOptions& m) {
    Json a = {{"image_shape", m.image_shape},
              {"patch_size", m.patch_size},
              {"d_model", m.d_model},
              {m.is("PrediNet") ? "n_classes" : "num_classes", m.num_classes}};
    if (m.is("PrediNet")) {
        a["n_heads"] = m.n_heads_sa;
        a["n_relations"] = m.n_relations;
        if (m.key_dim > 0 && m.key_dim != m.d_model / m.n_heads_sa) a["key_dim"] = m.key_dim;
    }
    if (m.is("AbstractorModel"))
        a["abstractor_kwargs"] = {
            {"n_layers", m.n_layers},
            {"n_heads", m.n_heads_sa},
            {"dff", m.dff},
            {"use_self_attn", m.use_self_attn},
            {"dropout_rate", m.dropout_rate},
            {"activation", m.activation},
            {"norm_first", m.norm_first},
            {"symbol_retriever_type",
             m.symbol_retrieval == "positional_symbols" ? "positional" : m.symbol_retrieval},
            {"symbol_retriever_kwargs", symbolArguments(m)},
            {"symbol_add_pos_embedding", false},
            {"max_len", m.patches()}};
    return a;
}

Json objectArguments(const ModelOptions& m) {
    if (m.is("MessagePassingAbstractor"))
        return {{"n_objects", m.n_objects},
                {"dim", m.object_dim},
                {"d_model", m.d_model},
                {"n_layers", m.n_layers},
                {"n_relations", m.n_relations},
                {"proj_dim", m.rel_proj_dim},
                {"symmetric", m.symmetric_rels},
                {"sigma", m.rel_activation},
                {"softmax", m.message_softmax},
                {"symbol_dim", m.symbolDim()},
                {"dff", m.dff},
                {"use_self_attn", m.use_self_attn},
                {"use_norm", m.abs_norm != "none"},
                {"n_heads", m.n_heads_sa},
                {"key_dim", orNull(m.key_dim)},
                {"dropout_rate", m.dropout_rate},
                {"hidden", m.hidden},
                {"out_dim", m.out_dim}};
    Json a = Json::object();
    for (const auto& field : ModelOptions::fieldTable())
        if (field.spec.name != "architecture" && field.applies(m))
            a[field.spec.name] = std::visit([](const auto& v) { return Json(v); }, field.get(m));
    return a;
}

}  // namespace

std::string modelToPublishedConfig(const ModelOptions& m) {
    if (m.isLanguage()) return languageArguments(m).dump(1);
    const Json arguments = m.isVision()                     ? visionArguments(m)
                           : m.isSeq2Seq()                  ? seq2seqArguments(m)
                           : m.isSeq2SeqAbstractor()        ? abstractorArguments(m)
                           : m.input() == InputKind::Images ? imageBaselineArguments(m)
                                                            : objectArguments(m);
    return Json{{"class", m.architecture}, {"arguments", arguments}}.dump(1);
}

}  // namespace relascope
