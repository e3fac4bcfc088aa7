// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the decoders of public families.
#include "model/public/family_fields.h"

namespace relascope::core {

StackOptions stackOf(const PublicDecoderOptions& o) {
    auto s = stackOf(static_cast<const TransformerLMOptions&>(o));
    s.details = o;
    s.feedForwardBias = o.ff_bias;
    return s;
}

std::vector<std::string> familyActivations() {
    return {"gelu", "exact_gelu", "quick_gelu", "relu", "swiglu", "geglu", "exact_geglu"};
}
std::vector<std::string> familyNorms() {
    return {"layernorm", "layernorm_no_bias", "layernorm_no_weight", "rmsnorm", "none"};
}

namespace {

using Decoder = PublicDecoderOptions;

FieldTable<RotaryOptions> rotaryFields() {
    using namespace fields;
    using O = RotaryOptions;
    return {
        advanced(positive(real(&O::rope_theta, "rope_theta", "Rotary base",
                               "Base of the rotary frequencies.", 0.0, 1e12))),
        advanced(integer(&O::rotary_dims, "rotary_dims", "Rotated dimensions",
                         "First dimensions of a head that turn; 0 means all.", 0, 65536)),
        advanced(boolean(&O::rotary_halves, "rotary_halves", "Halves turn",
                         "Dimensions i and i + r/2 turn together, not 2i and 2i + 1.")),
        advanced(choice(&O::rope_type, "rope_type", "Rotary scaling",
                        "How frequencies are scaled by the rotary factor.",
                        {"llama3", "linear", "yarn", "longrope"})),
        advanced(
            positive(real(&O::rope_factor, "rope_factor", "Rotary factor",
                          "Low frequencies are divided by it; 1 means no scaling.", 0.0, 1e6))),
        advanced(positive(real(&O::rope_low_freq_factor, "rope_low_freq_factor", "Low frequency",
                               "Waves longer than the original context / it are low.", 0.0, 1e6))),
        advanced(
            positive(real(&O::rope_high_freq_factor, "rope_high_freq_factor", "High frequency",
                          "Waves shorter than the original context / it are kept.", 0.0, 1e6))),
        advanced(integer(&O::rope_original, "rope_original", "Original context",
                         "Tokens of the context before the frequencies were scaled.", 1, 1e9)),
        advanced(positive(real(&O::yarn_beta_fast, "yarn_beta_fast", "Fast turns",
                               "Frequencies that turn more often within the original context are "
                               "kept.",
                               0.0, 1e6))),
        advanced(positive(real(&O::yarn_beta_slow, "yarn_beta_slow", "Slow turns",
                               "Frequencies that turn less often within the original context are "
                               "divided.",
                               0.0, 1e6))),
        advanced(boolean(&O::yarn_truncate, "yarn_truncate", "Whole pairs",
                         "The pairs between which frequencies are mixed are whole numbers.")),
        advanced(positive(real(&O::rope_attention, "rope_attention", "Rotary length",
                               "Cosines and sines are multiplied by it.", 0.0, 1e6))),
        advanced(text(&O::rope_short_factors, "rope_short_factors", "Short divisors",
                      "What each frequency is divided by in texts of the original context.")),
        advanced(text(&O::rope_long_factors, "rope_long_factors", "Long divisors",
                      "What each frequency is divided by in longer texts."))};
}

FieldTable<ScoreOptions> scoreFields() {
    using namespace fields;
    using O = ScoreOptions;
    return {
        queryNorm(&O::qk_norm),
        advanced(choice(&O::qk_norm_type, "qk_norm_type", "Type of the query norm",
                        "Type of the norms of queries and keys.",
                        {"rmsnorm", "layernorm_no_bias"})),
        advanced(real(&O::score_scale, "score_scale", "Score scale",
                      "What inner products are multiplied by; 0 means 1/sqrt(head width).", 0.0,
                      1e6)),
        advanced(real(&O::score_cap, "score_cap", "Score cap",
                      "Scores stay below it by a tanh; 0 means no cap.", 0.0, 1e9)),
        advanced(choice(&O::distance, "distance", "Distances",
                        "What distances add to scores: nothing, or slopes of each head behind or "
                        "inside the scale.",
                        {"none", "behind", "inside"})),
        advanced(real(&O::clip_qkv, "clip_qkv", "Clipping",
                      "Queries, keys and values stay within -+ it; 0 means as they are.", 0.0,
                      1e9))};
}

FieldTable<ExpertOptions> expertFields() {
    using namespace fields;
    using O = ExpertOptions;
    return {
        advanced(integer(&O::experts, "experts", "Experts",
                         "Feed-forward networks of which some serve a token; 0 means one that "
                         "serves all.",
                         0, 4096)),
        advanced(integer(&O::experts_chosen, "experts_chosen", "Chosen experts",
                         "How many experts serve a token.", 1, 4096)),
        advanced(boolean(&O::experts_normed, "experts_normed", "Shares of experts",
                         "The probabilities of the chosen experts are divided by their sum.")),
        advanced(integer(&O::expert_dff, "expert_dff", "Expert width",
                         "Width inside an expert; 0 means that of the feed-forward.", 0, 1048576)),
        advanced(text(&O::ff_kinds, "ff_kinds", "Layers with experts",
                      "A letter for each layer, repeated: E has experts, D one feed-forward; "
                      "empty means that all have experts."))};
}

FieldTable<EndDetails> endFields() {
    using namespace fields;
    using O = EndDetails;
    return {advanced(positive(real(&O::embed_scale, "embed_scale", "Embedding scale",
                                   "What embeddings of tokens are multiplied by.", 0.0, 1e6))),
            advanced(integer(&O::embed_width, "embed_width", "Embedding width",
                             "Width of the embedding, which a layer projects to the stream; 0 "
                             "means that of the stream.",
                             0, 65536)),
            advanced(integer(&O::position_offset, "position_offset", "First position",
                             "Row of the learned positions that the first token has.", 0, 1024)),
            advanced(boolean(&O::embed_norm, "embed_norm", "Embedding norm",
                             "A norm of the stream that the blocks begin with.")),
            advanced(boolean(&O::final_norm, "final_norm", "Final norm",
                             "A norm of the stream that the blocks end with.")),
            advanced(boolean(&O::output_bias, "output_bias", "Output bias",
                             "Adds a bias to the output layer."))};
}

FieldTable<OutputForm> outputFormFields() {
    using namespace fields;
    using O = OutputForm;
    return {advanced(real(&O::soft_cap, "soft_cap", "Logit cap",
                          "Logits stay below it by a tanh; 0 means no cap.", 0.0, 1e9)),
            advanced(positive(real(&O::logit_scale, "logit_scale", "Logit scale",
                                   "What logits are multiplied by.", 0.0, 1e6)))};
}

}  // namespace

FieldTable<BlockDetails> familyDetails(bool decoder) {
    using namespace fields;
    using O = BlockDetails;
    FieldTable<O> table = {
        advanced(positive(real(&O::norm_eps, "norm_eps", "Norm epsilon",
                               "Added to the variance before its root is taken.", 0.0, 1.0))),
        advanced(boolean(&O::sa_add_bias_q, "sa_add_bias_q", "Query bias",
                         "Adds a bias to the query projection."))};
    if (!decoder) {
        const FieldTable<O> ofImages = {
            advanced(boolean(&O::key_bias, "key_bias", "Key bias",
                             "The biases of keys and values include one of the keys.")),
            advanced(boolean(&O::value_bias, "value_bias", "Value bias",
                             "The biases of keys and values include one of the values.")),
            advanced(boolean(&O::layer_scale, "layer_scale", "Layer scale",
                             "A vector multiplies what attention and feed-forward add."))};
        const FieldTable<RotaryOptions> turns = {
            advanced(positive(real(&RotaryOptions::rope_theta, "rope_theta", "Rotary base",
                                   "Base of the rotary frequencies.", 0.0, 1e12))),
            advanced(boolean(&RotaryOptions::rotary_halves, "rotary_halves", "Halves turn",
                             "Dimensions i and i + r/2 turn together, not 2i and 2i + 1."))};
        const FieldTable<ScoreOptions> places = {
            advanced(choice(&ScoreOptions::place_bias, "place_bias", "Biases by place",
                            "Numbers that the places of two patches add to scores: a table of each "
                            "block, one for all blocks, or both.",
                            {"none", "block", "shared", "both"}))};
        return joined<O>({table, ofImages, of<O>(turns), of<O>(places)});
    }
    const FieldTable<O> further = {
        advanced(integer(&O::head_dim, "head_dim", "Head width",
                         "Width of each head; 0 means d / heads.", 0, 65536)),
        slidingWindow(&O::sliding_window),
        advanced(boolean(&O::parallel_residual, "parallel_residual", "Parallel blocks",
                         "Attention and feed-forward read the same stream.")),
        advanced(when<O>([](const O& o) { return o.parallel_residual; },
                         boolean(&O::one_norm, "one_norm", "One norm",
                                 "Attention and feed-forward read the same normed stream."))),
        advanced(boolean(&O::norm_before, "norm_before", "Norms before",
                         "Norms of what attention and feed-forward read.")),
        normBehind(&O::norm_behind),
        advanced(boolean(&O::norm_plus_one, "norm_plus_one", "Norms by 1 + weight",
                         "Norms multiply by 1 + weight.")),
        advanced(
            positive(real(&O::residual_scale, "residual_scale", "Residual scale",
                          "What attention and feed-forward add is multiplied by it.", 0.0, 1e6))),
        layerKinds(&O::layer_kinds),
        advanced(real(&O::local_rope_theta, "local_rope_theta", "Rotary base of windows",
                      "Base of the rotary frequencies of layers with a window, which are not "
                      "scaled; 0 means as in the other layers.",
                      0.0, 1e12))};
    return joined<O>(
        {table, further, of<O>(rotaryFields()), of<O>(scoreFields()), of<O>(expertFields())});
}

FieldTable<DocumentOptions> documentFields() {
    using namespace fields;
    using O = DocumentOptions;
    constexpr double most = 10000000;
    return {advanced(integer(&O::document_start, "document_start", "Document start",
                             "Id of the token that begins a document, which sees nothing before "
                             "it; -2 means the tokenizer's end of text, -1 that a text is one "
                             "document.",
                             static_cast<double>(kStartOfTokenizer), most)),
            advanced(integer(&O::padding, "padding", "Padding",
                             "Id of the token that takes no part in attention; -1 means none.", -1,
                             most))};
}

FieldTable<OutputLayer> outputLayerFields() {
    using namespace fields;
    return {advanced(boolean(&OutputLayer::tie_word_embeddings, "tie_word_embeddings",
                             "Tied output", "The output layer is the embedding."))};
}

FieldTable<Decoder> publicDecoderFields(const std::vector<Family>& families) {
    using namespace fields;
    const FieldTable<TransformerLMOptions> positions = {choice(
        &TransformerLMOptions::pos_enc_type, "pos_enc_type", "Positions",
        "Learned position embeddings, rotary positions, or none.", {"RoPE", "pos_emb", "none"})};
    return joined<Decoder>({familyFields<Decoder>(true, families), of<Decoder>(tokenInput()),
                            of<Decoder>(positions), of<Decoder>(documentFields()),
                            of<Decoder>(outputLayerFields()), of<Decoder>(endFields()),
                            of<Decoder>(outputFormFields())});
}

void publicDecoderProblems(const Decoder& o, ProblemList& list) {
    headProblems(o, list);
    layerKindProblems(o.layer_kinds, o.sliding_window, list);
    letterProblems("ff_kinds", o.ff_kinds, "ED", list);
    if (o.experts > 0 && o.experts_chosen > o.experts)
        list.refuse("experts_chosen", std::to_string(o.experts_chosen) + " are more than the " +
                                          std::to_string(o.experts) + " experts; give fewer");
    if (!list.empty() || !o.rotary()) return;
    const auto width = stackOf(o).headDim(), turned = o.dims(width);
    const char* field = o.rotary_dims > 0 ? "rotary_dims" : o.head_dim > 0 ? "head_dim" : "d_model";
    if (turned % 2 != 0 || turned > width)
        list.refuse(field, "rotary positions need an even width, not " + std::to_string(turned) +
                               " of the " + std::to_string(width) +
                               " dimensions of a head; give an even one");
}

void publicDecoderShapes(const Decoder& o, ShapeList& list) {
    const std::string tokens = "layers.token_embedder.weight", out = "layers.final_out";
    const auto width = o.embed_width > 0 ? o.embed_width : o.d_model;
    list.parameter(tokens, {o.vocab_size, width});
    if (o.embed_width > 0) list.linear("layers.project_in", width, o.d_model, false);
    if (o.embed_norm) list.norm("layers.embed_norm", o.d_model, o.norm_type);
    addBlockShapes(list, "layers.blocks", o.n_layers, stackOf(o));
    if (o.final_norm) list.norm("layers.norm", o.d_model, o.norm_type);
    if (o.embed_width > 0) list.linear("layers.project_out", o.d_model, width, false);
    if (!o.tie_word_embeddings)
        list.linear(out, width, o.vocab_size, o.output_bias);
    else if (o.output_bias)
        list.parameter(out + ".bias", {o.vocab_size});
    if (o.tie_word_embeddings) list.alias(out + ".weight", tokens);
    if (o.pos_enc_type == "pos_emb")
        list.parameter("layers.positional_embedder.weight",
                       {o.max_block_size + o.position_offset, o.d_model});
}

namespace {

// The three parts of the attention, which a file may keep as one tensor.
void addProjections(OutlineNode& attention, OutlineBuilder& builder) {
    for (const auto& [title, name] : {std::pair{"queries", "wq"},
                                      {"keys", "wk"},
                                      {"values", "wv"},
                                      {"output", "wo"},
                                      {"norm of queries", "q_norm"},
                                      {"norm of keys", "k_norm"}})
        builder.add(attention, title, name);
}

}  // namespace

void addFamilyBlocks(OutlineBuilder& builder, const char* title, const std::string& name,
                     std::int64_t layers, const StackOptions& stack) {
    addBlockOutline(builder, title, name, layers, stack);
    for (auto& part : builder.root().children)
        if (part.title == title)
            for (auto& block : part.children)
                for (auto& inner : block.children)
                    if (inner.prefix.ends_with("self_attn")) addProjections(inner, builder);
}

void publicDecoderOutline(const Decoder& o, OutlineBuilder& builder) {
    builder.add("token embedding", "layers.token_embedder",
                std::to_string(o.vocab_size) + " tokens" +
                    (o.tie_word_embeddings ? ", tied to the output" : ""));
    builder.add("projection", "layers.project_in", "to the width of the stream");
    builder.add("positions", "layers.positional_embedder",
                std::to_string(o.max_block_size) + " learned");
    builder.add("norm of the embedding", "layers.embed_norm", o.norm_type);
    addFamilyBlocks(builder, "blocks", "layers.blocks", o.n_layers, stackOf(o));
    builder.add("norm", "layers.norm", o.norm_type);
    builder.add("projection", "layers.project_out", "to the width of the embedding");
    if (o.tie_word_embeddings)
        builder.add("bias of the output", "layers.final_out.bias");
    else
        builder.add("output", "layers.final_out", std::to_string(o.vocab_size) + " tokens");
}

std::string publicDecoderText(const PublicDecoderOptions& o) {
    return familyText(o);
}

namespace {

const RegisterArchitecture decoder([] {
    Architecture<Decoder> a;
    a.name = kPublicDecoder;
    a.title = "Public decoder";
    a.order = 1000;
    a.fields = publicDecoderFields(decoderFamilies());
    a.defaults.family = decoderFamilies().front().type;
    a.defaults.activation = "gelu", a.defaults.dropout_rate = 0.0, a.defaults.n_heads_ra = 0;
    a.problems = publicDecoderProblems;
    a.text = familyText<Decoder>;
    a.shapes = publicDecoderShapes;
    a.outline = publicDecoderOutline;
    a.layers = [](const Decoder& o) {
        return layersOf("layers.blocks.", o.n_layers, "layer", true);
    };
    a.work = [](const Decoder& o) { return blockWork(stackOf(o), o.n_layers, nullptr); };
    a.opened = true;
    return a;
}());

}  // namespace
}  // namespace relascope::core
