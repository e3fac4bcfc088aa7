// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the image models of public families.
#include "model/public/family_fields.h"

namespace relascope::core {

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

using ImageModel = PublicImageOptions;

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
                        "Activation of its feed-forward.", familyActivations())),
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

void imageOutline(const ImageModel& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "to_patch_embedding", patchText(o));
    builder.add("class token", "cls_token");
    builder.add("distillation token", "distillation_token");
    builder.add("registers", "register_tokens", countText(o.registers, "token"));
    builder.add("positions", "pos_embedding", std::to_string(o.positionRows()) + " learned");
    builder.add("norm of the embedding", "embed_norm", o.norm_type);
    addFamilyBlocks(builder, "encoder", "encoder_blocks", o.n_layers, stackOf(o));
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
    addFamilyBlocks(builder, "text tower", "text.blocks", o.text_layers, textStackOf(o));
    builder.add("text norm", "text.norm", "layernorm");
    builder.add("text projection", "text.projection",
                "to " + std::to_string(o.features()) + " features");
    builder.add("scale of fit", "logit_scale");
    builder.add("bias of fit", "logit_bias");
}

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
