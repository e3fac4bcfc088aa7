// Which model, and how large. Names and defaults are those of the published constructors.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "types/error.h"
#include "types/field.h"

namespace relascope {

/// Options of a vision model: ViDAT (`VisionDualAttnTransformer`, DAT 4.1, 4.3) or its baseline ViT
/// (`VisionTransformer`). One flat struct, so that --set model.NAME reaches every option.
struct ModelOptions {
    std::string architecture = "VisionDualAttnTransformer";
    std::vector<std::int64_t> image_shape = {3, 36, 36};  // channels, width, height
    std::vector<std::int64_t> patch_size = {12, 12};      // width, height
    std::int64_t num_classes = 2;
    std::int64_t d_model = 128;
    std::int64_t n_layers = 2;
    std::int64_t n_heads_sa = 1;  // all heads, for the baseline
    std::int64_t n_heads_ra = 1;
    std::int64_t dff = 256;
    double dropout_rate = 0.1;
    std::string activation = "swiglu";
    bool norm_first = true;
    std::string norm_type = "layernorm";
    bool bias = false;
    std::string pool = "mean";

    std::string ra_type = "relational_attention";
    std::int64_t n_relations = 0;   // 0: as many as relational heads
    std::int64_t rel_proj_dim = 0;  // 0: head width * relational heads / relations
    std::string rel_activation = "identity";
    bool symmetric_rels = true;
    std::string rca_activation = "softmax";  // sigma_rel of ra_type rca

    std::int64_t sa_n_kv_heads = 0;  // 0: as many as heads
    std::int64_t ra_n_kv_heads = 0;
    std::int64_t sa_key_dim = 0;  // 0: head width
    std::int64_t ra_key_dim = 0;
    bool sa_add_bias_kv = false;
    bool sa_add_bias_out = false;
    bool ra_add_bias_kv = false;
    bool ra_add_bias_out = false;
    bool share_attn_params = false;
    bool rope = false;

    std::string symbol_retrieval = "positional_symbols";
    std::int64_t max_length = 0;   // positional: 0 = tokens
    std::int64_t max_rel_pos = 0;  // position-relative: 0 = tokens
    std::int64_t n_symbols = 64;   // symbolic attention
    std::int64_t symbol_heads = 4;
    double symbol_dropout = 0.0;
    double symbol_scale = 0.0;  // 0: 1/sqrt(d / heads)
    bool trainable_symbols = true;
    std::int64_t rel_n_heads = 4;  // relational symbolic attention
    std::int64_t nbhd_delta = 2;
    bool causal_nbhd = true;
    bool include_self = false;
    bool normalize_rels = true;
    double rel_scale = 0.0;  // 0: 1/sqrt(d / rel_n_heads)

    bool isDual() const { return architecture == "VisionDualAttnTransformer"; }
    std::int64_t heads() const { return n_heads_sa + (isDual() ? n_heads_ra : 0); }
    std::int64_t channels() const { return image_shape.at(0); }
    std::int64_t gridColumns() const { return image_shape.at(1) / patch_size.at(0); }
    std::int64_t gridRows() const { return image_shape.at(2) / patch_size.at(1); }
    std::int64_t patches() const { return gridRows() * gridColumns(); }
    std::int64_t tokens() const { return patches() + 1; }
    std::int64_t patchDim() const { return channels() * patch_size.at(0) * patch_size.at(1); }
    std::int64_t headDim() const { return d_model / heads(); }
    std::int64_t relations() const { return n_relations > 0 ? n_relations : n_heads_ra; }

    /// Every value that cannot be built, field by field, before anything is allocated.
    std::vector<FieldProblem> problems() const;
    /// Throws OptionError ("model.FIELD: ...") with the first problem.
    void check() const {
        const auto found = problems();
        if (!found.empty()) throw OptionError("model." + found[0].field, found[0].message);
    }

    bool operator==(const ModelOptions&) const = default;
    static const FieldTable<ModelOptions>& fieldTable();
};

inline const FieldTable<ModelOptions>& ModelOptions::fieldTable() {
    using O = ModelOptions;
    using namespace fields;
    static const auto dual =
        std::function<bool(const O&)>([](const O& o) { return o.isDual() && o.n_heads_ra > 0; });
    static const auto sensory =
        std::function<bool(const O&)>([](const O& o) { return o.n_heads_sa > 0; });
    static const auto disentangled = std::function<bool(const O&)>(
        [](const O& o) { return dual(o) && o.ra_type == "relational_attention"; });
    static const auto rca =
        std::function<bool(const O&)>([](const O& o) { return dual(o) && o.ra_type == "rca"; });
    const auto symbols = [](const std::vector<std::string>& kinds) {
        return std::function<bool(const O&)>([kinds](const O& o) {
            if (!dual(o)) return false;
            for (const auto& kind : kinds)
                if (o.symbol_retrieval == kind) return true;
            return false;
        });
    };
    const auto library = symbols({"symbolic_attention", "rel_sym_attn"});
    const auto neighbours = symbols({"rel_sym_attn"});
    static const FieldTable<O> table = {
        choice(&O::architecture, "architecture", "Architecture",
               "ViDAT has sensory and relational heads; the Vision Transformer has sensory heads "
               "alone.",
               {"VisionDualAttnTransformer", "VisionTransformer"}),
        integer(&O::n_layers, "n_layers", "Layers", "How many blocks stand on one another.", 1,
                1000),
        integer(&O::d_model, "d_model", "Width d",
                "Width of the residual stream; a multiple of the number of heads.", 1, 65536),
        integer(&O::n_heads_sa, "n_heads_sa", "Sensory heads",
                "Heads that mix what the other patches are.", 0, 1024),
        when<O>([](const O& o) { return o.isDual(); },
                integer(&O::n_heads_ra, "n_heads_ra", "Relational heads",
                        "Heads that mix how the other patches relate to this one.", 0, 1024)),
        when<O>(disentangled,
                integer(&O::n_relations, "n_relations", "Relations",
                        "Dimension of r_ij, shared by all relational heads; 0 means one a head.", 0,
                        4096)),
        when<O>(dual, boolean(&O::symmetric_rels, "symmetric_rels", "Symmetric",
                              "Makes r_ij equal r_ji by using one projection for both sides.")),
        when<O>(dual, choice(&O::symbol_retrieval, "symbol_retrieval", "Symbols",
                             "How each sender gets the symbol that says who it is.",
                             {"positional_symbols", "position_relative", "symbolic_attention",
                              "rel_sym_attn"})),
        integer(&O::dff, "dff", "Feed-forward width",
                "Width inside the feed-forward block; 0 means 4 d, or 8/3 d for swiglu.", 0,
                1048576),
        real(&O::dropout_rate, "dropout_rate", "Dropout",
             "Share of activations set to zero while training.", 0.0, 0.99),
        choice(&O::activation, "activation", "Activation",
               "Non-linearity of the feed-forward block.",
               {"relu", "gelu", "silu", "swiglu", "tanh", "sigmoid", "identity"}),
        when<O>(dual, choice(&O::ra_type, "ra_type", "Relational attention",
                             "Disentangled relations and symbols, or the ablations rca and disrca.",
                             {"relational_attention", "rca", "disrca"})),
        when<O>([](const O& o) { return dual(o) && o.ra_type != "rca"; },
                choice(&O::rel_activation, "rel_activation", "Relation activation",
                       "Applied to the inner products r_ij.",
                       {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"})),
        advanced(when<O>(
            disentangled,
            integer(&O::rel_proj_dim, "rel_proj_dim", "Relation projection",
                    "Width of each relation's projections; 0 fits it to the heads.", 0, 65536))),
        advanced(when<O>(
            rca, choice(&O::rca_activation, "rca_activation", "RCA activation",
                        "What turns the inner products of relational cross-attention into weights.",
                        {"softmax", "identity", "relu", "sigmoid", "tanh", "gelu", "silu"}))),
        advanced(when<O>(
            sensory,
            integer(&O::sa_n_kv_heads, "sa_n_kv_heads", "Sensory key heads",
                    "Key and value heads shared by groups of sensory heads; 0 means one each.", 0,
                    1024))),
        advanced(when<O>(
            dual,
            integer(&O::ra_n_kv_heads, "ra_n_kv_heads", "Relational key heads",
                    "Key and symbol heads shared by groups of relational heads; 0 means one each.",
                    0, 1024))),
        advanced(when<O>(
            sensory,
            integer(&O::sa_key_dim, "sa_key_dim", "Sensory key width",
                    "Width of the sensory queries and keys; 0 means the head width.", 0, 65536))),
        advanced(when<O>(
            dual, integer(&O::ra_key_dim, "ra_key_dim", "Relational key width",
                          "Width of the relational queries and keys; 0 means the head width.", 0,
                          65536))),
        advanced(
            when<O>(sensory, boolean(&O::sa_add_bias_kv, "sa_add_bias_kv", "Sensory key bias",
                                     "Adds a bias to the sensory key and value projections."))),
        advanced(
            when<O>(sensory, boolean(&O::sa_add_bias_out, "sa_add_bias_out", "Sensory output bias",
                                     "Adds a bias to the sensory output projection."))),
        advanced(
            when<O>(dual, boolean(&O::ra_add_bias_kv, "ra_add_bias_kv", "Relational key bias",
                                  "Adds a bias to the relational key and symbol projections."))),
        advanced(
            when<O>(dual, boolean(&O::ra_add_bias_out, "ra_add_bias_out", "Relational output bias",
                                  "Adds a bias to the relational output projection."))),
        advanced(when<O>(
            dual, boolean(&O::share_attn_params, "share_attn_params", "Share attention",
                          "Sensory and relational heads look with the same queries and keys."))),
        advanced(boolean(&O::rope, "rope", "Rotary positions",
                         "Rotates queries and keys by their position (RoPE).")),
        advanced(boolean(&O::norm_first, "norm_first", "Norm first",
                         "Normalises before each sub-layer (pre-norm) instead of after it.")),
        advanced(choice(&O::norm_type, "norm_type", "Norm", "Kind of normalisation.",
                        {"layernorm", "rmsnorm", "none"})),
        advanced(boolean(&O::bias, "bias", "Block bias", "Adds biases inside the blocks.")),
        advanced(choice(&O::pool, "pool", "Pooling",
                        "What the classifier reads: the mean of all tokens, or the class token.",
                        {"mean", "cls"})),
        advanced(when<O>(
            symbols({"positional_symbols"}),
            integer(&O::max_length, "max_length", "Symbol rows",
                    "Rows of the positional symbol library; 0 means one a token.", 0, 1048576))),
        advanced(when<O>(
            symbols({"position_relative"}),
            integer(&O::max_rel_pos, "max_rel_pos", "Largest offset",
                    "Offsets j - i beyond this share a symbol; 0 means the number of tokens.", 0,
                    1048576))),
        advanced(when<O>(library, integer(&O::n_symbols, "n_symbols", "Symbols in library",
                                          "How many symbols can be retrieved.", 1, 1048576))),
        advanced(when<O>(
            library, integer(&O::symbol_heads, "symbol_heads", "Symbol heads",
                             "Heads of the symbolic attention; must divide the width.", 1, 1024))),
        advanced(
            when<O>(library, real(&O::symbol_dropout, "symbol_dropout", "Symbol dropout",
                                  "Dropout on the weights of the symbolic attention.", 0.0, 0.99))),
        advanced(
            when<O>(library,
                    real(&O::symbol_scale, "symbol_scale", "Symbol scale",
                         "Scale of the symbolic attention; 0 means 1/sqrt(d / heads).", 0.0, 1e6))),
        advanced(when<O>(symbols({"symbolic_attention"}),
                         boolean(&O::trainable_symbols, "trainable_symbols", "Trainable symbols",
                                 "Lets training change the symbols themselves."))),
        advanced(when<O>(
            neighbours,
            integer(&O::rel_n_heads, "rel_n_heads", "Neighbour heads",
                    "Relations computed with each neighbour; must divide the width.", 1, 1024))),
        advanced(when<O>(neighbours, integer(&O::nbhd_delta, "nbhd_delta", "Neighbourhood",
                                             "How far the neighbourhood reaches.", 1, 4096))),
        advanced(when<O>(neighbours, boolean(&O::causal_nbhd, "causal_nbhd", "Causal neighbourhood",
                                             "Looks at earlier tokens only."))),
        advanced(when<O>(neighbours, boolean(&O::include_self, "include_self", "Include itself",
                                             "Counts the token itself as a neighbour."))),
        advanced(
            when<O>(neighbours, boolean(&O::normalize_rels, "normalize_rels", "Normalise relations",
                                        "Softmax over the neighbourhood."))),
        advanced(when<O>(
            neighbours,
            real(&O::rel_scale, "rel_scale", "Neighbour scale",
                 "Scale of the neighbour relations; 0 means 1/sqrt(d / heads).", 0.0, 1e6))),
        advanced(integers(&O::patch_size, "patch_size", "Patch size",
                          "Width and height of a patch in pixels; both must divide the image.", 1,
                          4096)),
        advanced(integers(&O::image_shape, "image_shape", "Image shape",
                          "Channels, width and height; taken from the data when a run starts.", 1,
                          65536)),
        advanced(integer(
            &O::num_classes, "num_classes", "Classes",
            "How many classes the outputs tell apart; taken from the data when a run starts.", 1,
            1000000)),
    };
    return table;
}

inline std::vector<FieldProblem> ModelOptions::problems() const {
    std::vector<FieldProblem> found;
    const auto refuse = [&](const char* field, std::string message) {
        found.push_back({field, std::move(message)});
    };
    const auto n = [](std::int64_t value) { return std::to_string(value); };
    if (image_shape.size() != 3)
        refuse("image_shape", "needs three numbers: channels, width, height");
    if (patch_size.size() != 2) refuse("patch_size", "needs two numbers: width, height");
    if (!found.empty()) return found;
    for (int axis = 0; axis < 2; ++axis) {
        const std::int64_t image = image_shape[axis + 1], patch = patch_size[axis];
        if (patch < 1 || image < 1 || image % patch != 0)
            refuse("patch_size", n(patch) + " does not divide the image's " + n(image) +
                                     " pixels; give a divisor of " + n(image));
    }
    if (!found.empty()) return found;
    if (isDual() && n_heads_sa + n_heads_ra < 1)
        refuse("n_heads_ra", "there are no heads; give at least one sensory or relational head");
    if (!isDual() && n_heads_sa < 1)
        refuse("n_heads_sa", "a Vision Transformer needs at least one head");
    if (!found.empty()) return found;
    if (d_model % heads() != 0) {
        refuse("d_model", n(d_model) + " is not a multiple of the " + n(heads()) +
                              " heads; the next that is: " + n((d_model / heads() + 1) * heads()));
        return found;
    }
    const auto keyHeads = [&](const char* field, std::int64_t kv, std::int64_t all) {
        if (kv > 0 && all % kv != 0)
            refuse(field, n(kv) + " does not divide the " + n(all) + " heads");
    };
    if (n_heads_sa > 0) keyHeads("sa_n_kv_heads", sa_n_kv_heads, n_heads_sa);
    if (rope) {
        const auto even = [&](const char* field, std::int64_t key) {
            if ((key > 0 ? key : headDim()) % 2 != 0)
                refuse(field,
                       "rotary positions need an even width, not " + n(key > 0 ? key : headDim()));
        };
        if (n_heads_sa > 0) even("sa_key_dim", sa_key_dim);
        if (isDual() && n_heads_ra > 0) even("ra_key_dim", ra_key_dim);
    }
    if (isDual() && n_heads_ra > 0) {
        keyHeads("ra_n_kv_heads", ra_n_kv_heads, n_heads_ra);
        const std::int64_t width = headDim() * n_heads_ra;
        if (ra_type == "relational_attention") {
            if (rel_proj_dim > 0 && rel_proj_dim * relations() != width)
                refuse("rel_proj_dim", n(rel_proj_dim) + " x " + n(relations()) +
                                           " relations is not the relational width " + n(width));
            else if (width % relations() != 0)
                refuse("n_relations",
                       n(relations()) + " does not divide the relational width " + n(width));
        }
        if (share_attn_params && n_heads_sa != n_heads_ra)
            refuse("share_attn_params", "needs as many sensory heads (" + n(n_heads_sa) +
                                            ") as relational heads (" + n(n_heads_ra) + ")");
        if (share_attn_params && (sa_n_kv_heads != ra_n_kv_heads || sa_key_dim != ra_key_dim ||
                                  sa_add_bias_kv != ra_add_bias_kv))
            refuse("share_attn_params",
                   "needs the same key heads, key widths and key biases on both sides");
        if (share_attn_params && ra_type == "rca")
            refuse("share_attn_params",
                   "does not go with ra_type rca, which has no attention of its own");
    }
    if (isDual()) {
        if (symbol_retrieval == "positional_symbols" && max_length > 0 && max_length < tokens())
            refuse("max_length", n(max_length) + " is fewer than the " + n(tokens()) + " tokens");
        if (symbol_retrieval == "symbolic_attention" || symbol_retrieval == "rel_sym_attn")
            if (d_model % symbol_heads != 0)
                refuse("symbol_heads",
                       n(symbol_heads) + " does not divide the width " + n(d_model));
        if (symbol_retrieval == "rel_sym_attn" && d_model % rel_n_heads != 0)
            refuse("rel_n_heads", n(rel_n_heads) + " does not divide the width " + n(d_model));
    }
    return found;
}

}  // namespace relascope
