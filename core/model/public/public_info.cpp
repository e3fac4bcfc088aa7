// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the decoders and image classifiers of public families.
#include "model/baselines/patch_info.h"
#include "model/blocks/block_info.h"
#include "model/public/family.h"
#include "model/public/public_options.h"

namespace relascope::core {

StackOptions stackOf(const PublicDecoderOptions& o) {
    auto s = stackOf(static_cast<const TransformerLMOptions&>(o));
    s.details = o;
    s.feedForwardBias = o.ff_bias;
    return s;
}

StackOptions stackOf(const PublicImageOptions& o) {
    auto s = stackOf(static_cast<const VisionTransformerOptions&>(o), false);
    s.details = o;
    s.feedForwardBias = o.ff_bias;
    if (o.rope) {
        s.details.turned_rows = o.gridRows(), s.details.turned_columns = o.gridColumns();
        s.details.turned_first = o.before();
    }
    s.details.place_rows = o.gridRows(), s.details.place_columns = o.gridColumns();
    s.details.table_rows = o.learnedRows(), s.details.table_columns = o.learnedColumns();
    return s;
}

StackOptions textStackOf(const PublicImageOptions& o) {
    StackOptions s;
    s.block.n_heads_sa = o.text_heads, s.block.n_heads_ra = 0;
    s.block.dff = o.text_dff, s.block.activation = o.text_activation;
    s.block.dropout_rate = 0.0;
    s.block.bias = s.block.sa_add_bias_kv = s.details.sa_add_bias_q = s.feedForwardBias = true;
    s.details.norm_eps = o.text_eps;
    s.d_model = o.text_width, s.causal = o.text_causal;
    return s;
}

bool takesHead(const ModelOptions& options) {
    const auto* images = options.find<PublicImageOptions>();
    return images && (images->num_classes == 0 || images->answer != "own");
}

bool answersEach(const ModelOptions& options) {
    const auto* images = options.find<PublicImageOptions>();
    return images && images->answersEach();
}

bool answersNumbers(const ModelOptions& options) {
    const auto* images = options.find<PublicImageOptions>();
    return options.info().numbers || (images && images->num_classes == 0);
}

namespace {

using Decoder = PublicDecoderOptions;
using ImageModel = PublicImageOptions;

// Asked for before objects of other files exist.
std::vector<std::string> activationNames() {
    return {"gelu", "exact_gelu", "quick_gelu", "relu", "swiglu", "geglu", "exact_geglu"};
}
std::vector<std::string> normNames() {
    return {"layernorm", "layernorm_no_bias", "layernorm_no_weight", "rmsnorm", "none"};
}

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

// The detail fields of every family; with `decoder` also the fields that only decoders have.
FieldTable<BlockDetails> detailFields(bool decoder) {
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

}  // namespace

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

namespace {

template <class Options>
FieldTable<Options> familyFields(bool rotary, const std::vector<Family>& families) {
    using namespace fields;
    using O = FamilyName;
    FieldSpec family{"family", "Family", "The public family whose checkpoint this is.",
                     FieldKind::Choice};
    for (const auto& one : families)
        if (one.architecture != kPublicDualDecoder)
            family.choices.push_back(one.type), family.choiceTitles.push_back(one.title);
    auto blocks = plainBlock(plainHeads());
    for (auto& field : blocks) {
        if (field.spec.name == "activation") field.spec.choices = activationNames();
        if (field.spec.name == "norm_type") field.spec.choices = normNames();
    }
    return joined<Options>({of<Options>(FieldTable<O>{
                                make(family, &O::family),
                                advanced(boolean(&O::ff_bias, "ff_bias", "Feed-forward bias",
                                                 "Adds biases inside the feed-forward block."))}),
                            of<Options>(depth()), of<Options>(stream()),
                            block<Options>(blocks, false), of<Options>(detailFields(rotary))});
}

}  // namespace

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

namespace {

FieldTable<ImageModel> imageFields() {
    using namespace fields;
    using O = ImageModel;
    using Plain = VisionTransformerOptions;
    const FieldTable<Plain> pooling = {
        advanced(choice(&Plain::pool, "pool", "Pooling", "Input of the classifier.",
                        {"mean", "cls", "query", "cls_mean"}))};
    const FieldTable<BlockOptions> turning = {
        advanced(boolean(&BlockOptions::rope, "rope", "Rotary positions",
                         "Rows and columns of patches turn queries and keys."))};
    using End = ImageEndOptions;
    const FieldTable<End> ends = {
        advanced(boolean(&End::norm_all, "norm_all", "Final norm",
                         "A norm of all tokens before they are pooled.")),
        advanced(boolean(&End::pool_all, "pool_all", "Pools all",
                         "The mean, or the learned query, counts the first tokens as well.")),
        advanced(
            boolean(&End::norm_pooled, "norm_pooled", "Pooled norm", "A norm of what was pooled.")),
        advanced(integer(&End::query_dff, "query_dff", "Query's feed-forward",
                         "Width inside the feed-forward of the learned query.", 0, 1048576)),
        advanced(integer(&End::projection, "projection", "Projection",
                         "Width that the pooled vector is projected to; 0 means that it is not.", 0,
                         65536)),
        advanced(boolean(&End::projection_bias, "projection_bias", "Projection bias",
                         "Adds a bias to that projection."))};
    using Text = TextTowerOptions;
    const FieldTable<Text> texts = {
        advanced(integer(&Text::text_layers, "text_layers", "Text layers",
                         "Blocks of the text tower; 0 means that there is none.", 0, 1024)),
        advanced(integer(&Text::text_width, "text_width", "Text width",
                         "Width of the text tower's stream.", 1, 65536)),
        advanced(integer(&Text::text_heads, "text_heads", "Text heads", "Heads of the text tower.",
                         1, 1024)),
        advanced(integer(&Text::text_dff, "text_dff", "Text feed-forward",
                         "Width inside its feed-forward.", 1, 1048576)),
        advanced(integer(&Text::text_vocab, "text_vocab", "Text vocabulary",
                         "Tokens of its vocabulary.", 1, 10000000)),
        advanced(integer(&Text::text_places, "text_places", "Text places",
                         "The most tokens of a text.", 1, 1048576)),
        advanced(choice(&Text::text_activation, "text_activation", "Text activation",
                        "Activation of its feed-forward.", activationNames())),
        advanced(positive(real(&Text::text_eps, "text_eps", "Text norm epsilon",
                               "Added to the variance before its root is taken.", 0.0, 1.0))),
        advanced(boolean(&Text::text_causal, "text_causal", "Causal texts",
                         "Tokens see those before them alone.")),
        advanced(integer(&Text::text_end, "text_end", "End of text",
                         "Id of the token whose place is read; -1 means the largest id, -2 the "
                         "last place.",
                         -2, 1e7)),
        advanced(boolean(&Text::text_projection_bias, "text_projection_bias",
                         "Text projection bias", "Adds a bias to the projection of texts.")),
        advanced(boolean(&Text::logit_bias, "logit_bias", "Bias of fit",
                         "Adds a bias to how well a text fits, whose sigmoid is its chance."))};
    const FieldTable<O> own = {
        advanced(integer(&O::first_tokens, "first_tokens", "First tokens",
                         "The class token, and one for distillation; 0 means neither.", 0, 2)),
        advanced(integer(&O::registers, "registers", "Registers",
                         "Further tokens before the patches.", 0, 1024)),
        advanced(choice(&O::positions, "positions", "Learned positions",
                        "Which tokens have them; class means all but registers.",
                        {"all", "class", "patches", "none"})),
        advanced(integers(&O::position_grid, "position_grid", "Learned grid",
                          "Width and height of the grid of patches that positions were learned "
                          "for.",
                          0, 65536)),
        advanced(choice(&O::position_scaling, "position_scaling", "Scaling of positions",
                        "How they are scaled to another grid; aa means with antialiasing.",
                        {"bicubic", "bicubic_aa", "bilinear_aa"})),
        advanced(boolean(&O::embed_norm, "embed_norm", "Embedding norm",
                         "A norm of the stream that the blocks begin with.")),
        advanced(boolean(&O::patch_bias, "patch_bias", "Patch bias",
                         "Adds a bias to the projection of patches.")),
        advanced(boolean(&O::ff_gate, "ff_gate", "Gate", "The feed-forward has a gate.")),
        advanced(choice(&O::answer, "answer", "Classes",
                        "Where classes come from: a classifier of the checkpoint, or a head that "
                        "was given to it.",
                        {"own", "texts", "means", "ridge"})),
        advanced(boolean(&O::two_classifiers, "two_classifiers", "Two classifiers",
                         "The answer is the mean of two classifiers.")),
        advanced(text(&O::preprocessor, "preprocessor", "Pictures",
                      "How pictures are scaled, cut and normalised."))};
    auto images = imageInput();
    for (auto& field : images)
        if (field.spec.name == "num_classes") {
            field.spec.minimum = 0;
            field.spec.help = "Number of classes; 0 means that the answer are features.";
        }
    return joined<O>({familyFields<O>(false, imageFamilies()), of<O>(images), of<O>(pooling),
                      of<O>(turning), of<O>(ends), of<O>(texts), own});
}

// Sizes of heads that cannot be built.
template <class Options>
void headProblems(const Options& o, ProblemList& list) {
    if (!list.empty()) return;
    const auto n = [](std::int64_t value) { return std::to_string(value); };
    const std::int64_t heads = o.n_heads_sa;
    if (heads < 1) return list.refuse("n_heads_sa", "there are no heads; give at least one");
    if (o.head_dim == 0 && o.d_model % heads != 0)
        return list.refuse("d_model", n(o.d_model) + " is not a multiple of the " + n(heads) +
                                          " heads; the next multiple is " +
                                          n((o.d_model / heads + 1) * heads));
    if (const auto kv = o.sa_n_kv_heads; kv > 0 && heads % kv != 0)
        list.refuse("sa_n_kv_heads", n(kv) + " does not divide the " + n(heads) + " heads");
}

void imageProblems(const ImageModel& o, ProblemList& list) {
    headProblems(o, list);
    if (!list.empty()) return;
    const auto width = stackOf(o).headDim();
    if (o.rope && width % 4 != 0)
        list.refuse("n_heads_sa",
                    "rotary positions of images need heads of a multiple of 4 "
                    "dimensions, not " +
                        std::to_string(width) + "; give another number of heads");
    if (o.hasTexts() && o.text_width % o.text_heads != 0)
        list.refuse("text_heads", std::to_string(o.text_heads) + " do not divide the width of " +
                                      std::to_string(o.text_width) + "; give a divisor");
    if (o.pool.starts_with("cls") && o.first_tokens == 0)
        list.refuse("pool", "there is no class token to read; choose mean or query");
}

}  // namespace

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

void imageShapes(const ImageModel& o, ShapeList& list) {
    const auto d = o.d_model;
    const auto token = [&](const char* name, std::int64_t count) {
        if (count > 0) list.parameter(name, {1, count, d});
    };
    const auto stack = stackOf(o);
    token("pos_embedding", o.positionRows());
    token("cls_token", std::min<std::int64_t>(o.first_tokens, 1));
    token("distillation_token", o.first_tokens - 1);
    token("register_tokens", o.registers);
    if (stack.details.place_bias == "shared" || stack.details.place_bias == "both")
        list.parameter("place_bias", {stack.details.placeRows(), o.n_heads_sa});
    if (o.hasTexts()) {
        if (o.logit_bias)
            list.parameter("logit_scale", {1});
        else
            list.parameter("logit_scale", {});  // as CLIP has it
        if (o.logit_bias) list.parameter("logit_bias", {1});
    }
    list.linear("to_patch_embedding.2", o.patchDim(), d, o.patch_bias);
    if (o.embed_norm) list.norm("embed_norm", d, o.norm_type);
    addBlockShapes(list, "encoder_blocks", o.n_layers, stack);
    list.norm("final_out.0", d, o.norm_all ? o.norm_type : "none");
    if (o.hasClassifier()) list.linear("final_out.1", o.features(), o.num_classes);
    if (o.pool == "query") {
        list.parameter("pool.probe", {1, 1, d});
        for (const char* name : {"wq", "wk", "wv", "wo"})
            list.linear(std::string("pool.query_attn.") + name, d, d);
        list.norm("pool.norm", d, o.norm_type);
        list.linear("pool.ff_block.linear1", d, o.query_dff);
        list.linear("pool.ff_block.linear2", o.query_dff, d);
    }
    if (o.norm_pooled) list.norm("pooled_norm", d, o.norm_type);
    if (o.projection > 0) list.linear("projection", d, o.projection, o.projection_bias);
    if (o.two_classifiers) {
        list.linear("class_out", d, o.num_classes);
        list.linear("distillation_out", d, o.num_classes);
    }
    if (!o.hasTexts()) return;
    list.parameter("text.positions", {o.text_places, o.text_width});
    list.parameter("text.tokens.weight", {o.text_vocab, o.text_width});
    addBlockShapes(list, "text.blocks", o.text_layers, textStackOf(o));
    list.norm("text.norm", o.text_width);
    list.linear("text.projection", o.text_width, o.features(), o.text_projection_bias);
}

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

void addBlocks(OutlineBuilder& builder, const char* title, const std::string& name,
               std::int64_t layers, const StackOptions& stack) {
    addBlockOutline(builder, title, name, layers, stack);
    for (auto& part : builder.root().children)
        if (part.title == title)
            for (auto& block : part.children)
                for (auto& inner : block.children)
                    if (inner.prefix.ends_with("self_attn")) addProjections(inner, builder);
}

}  // namespace

void publicDecoderOutline(const Decoder& o, OutlineBuilder& builder) {
    builder.add("token embedding", "layers.token_embedder",
                std::to_string(o.vocab_size) + " tokens" +
                    (o.tie_word_embeddings ? ", tied to the output" : ""));
    builder.add("projection", "layers.project_in", "to the width of the stream");
    builder.add("positions", "layers.positional_embedder",
                std::to_string(o.max_block_size) + " learned");
    builder.add("norm of the embedding", "layers.embed_norm", o.norm_type);
    addBlocks(builder, "blocks", "layers.blocks", o.n_layers, stackOf(o));
    builder.add("norm", "layers.norm", o.norm_type);
    builder.add("projection", "layers.project_out", "to the width of the embedding");
    if (o.tie_word_embeddings)
        builder.add("bias of the output", "layers.final_out.bias");
    else
        builder.add("output", "layers.final_out", std::to_string(o.vocab_size) + " tokens");
}

namespace {

void imageOutline(const ImageModel& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "to_patch_embedding", patchText(o));
    builder.add("class token", "cls_token");
    builder.add("distillation token", "distillation_token");
    builder.add("registers", "register_tokens", countText(o.registers, "token"));
    builder.add("positions", "pos_embedding", std::to_string(o.positionRows()) + " learned");
    builder.add("norm of the embedding", "embed_norm", o.norm_type);
    addBlocks(builder, "encoder", "encoder_blocks", o.n_layers, stackOf(o));
    builder.add("biases by place", "place_bias", "shared by all blocks");
    builder.add("norm", "final_out.0", o.norm_type);
    builder.add("learned query", "pool", "reads the patches by attention");
    builder.add("norm of the pooled", "pooled_norm", o.norm_type);
    builder.add("projection", "projection", "to " + std::to_string(o.projection) + " features");
    const auto classes = std::to_string(o.num_classes) + " classes from the ";
    builder.add("classifier", "final_out.1",
                classes + (o.pool == "cls"     ? "class token"
                           : o.pool == "mean"  ? "mean of the patches"
                           : o.pool == "query" ? "learned query"
                                               : "class token and the mean of the patches"));
    builder.add("classifier", "class_out", classes + "class token");
    builder.add("distillation classifier", "distillation_out", classes + "distillation token");
    if (!o.hasTexts()) return;
    builder.add("text tokens", "text.tokens", std::to_string(o.text_vocab) + " tokens");
    builder.add("text positions", "text.positions", std::to_string(o.text_places) + " learned");
    addBlocks(builder, "text tower", "text.blocks", o.text_layers, textStackOf(o));
    builder.add("text norm", "text.norm", "layernorm");
    builder.add("text projection", "text.projection",
                "to " + std::to_string(o.features()) + " features");
    builder.add("scale of fit", "logit_scale");
    builder.add("bias of fit", "logit_bias");
}

template <class Options>
std::string familyText(const Options& o) {
    const auto* family = findFamily(o.family);
    return (family ? family->title : o.family) + " " + std::to_string(o.n_layers) + " layers, " +
           std::to_string(o.n_heads_sa) + " heads";
}

}  // namespace

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

const RegisterArchitecture imageModel([] {
    Architecture<ImageModel> a;
    a.name = kPublicImageModel;
    a.title = "Public image model";
    a.order = 1010;
    a.fields = imageFields();
    a.defaults.family = imageFamilies().front().type;
    a.defaults.activation = "exact_gelu", a.defaults.dropout_rate = 0.0, a.defaults.pool = "cls";
    a.defaults.n_heads_ra = 0;
    a.problems = imageProblems;
    a.text = familyText<ImageModel>;
    a.shapes = imageShapes;
    a.outline = imageOutline;
    a.layers = [](const ImageModel& o) {
        auto places = layersOf("encoder_blocks.", o.n_layers, "layer");
        if (o.pool == "query") places.push_back({"pool", {"learned query", 1, 0}});
        return places;
    };
    a.work = [](const ImageModel& o) { return blockWork(stackOf(o), o.n_layers, nullptr); };
    a.classToken = true;
    a.opened = true;
    return a;
}());

}  // namespace
}  // namespace relascope::core
