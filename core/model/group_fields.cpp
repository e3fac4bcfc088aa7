// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/group_fields.h"

#include <algorithm>

namespace relascope::core::fields {

FieldTable<StreamOptions> stream() {
    return {integer(&StreamOptions::d_model, "d_model", "Width d",
                    "Width of the residual stream; a multiple of the number of heads.", 1, 65536)};
}

FieldTable<StackDepth> depth() {
    return {integer(&StackDepth::n_layers, "n_layers", "Layers", "Number of blocks.", 1, 1000)};
}

FieldTable<ImageInput> imageInput() {
    using O = ImageInput;
    return {
        advanced(integers(&O::patch_size, "patch_size", "Patch size",
                          "Width and height of a patch in pixels; both must divide the image "
                          "size.",
                          1, 4096)),
        advanced(integers(&O::image_shape, "image_shape", "Image shape",
                          "Channels, width and height; set from the data when a run starts.", 1,
                          65536)),
        advanced(integer(&O::num_classes, "num_classes", "Classes",
                         "Number of classes; set from the data when a run starts.", 1, 1000000))};
}

FieldTable<TokenInput> tokenInput() {
    using O = TokenInput;
    return {integer(&O::vocab_size, "vocab_size", "Vocabulary",
                    "Number of tokens in the vocabulary.", 1, 10000000),
            integer(&O::max_block_size, "max_block_size", "Context",
                    "Maximum number of input tokens.", 1, 1048576)};
}

FieldTable<PairInput> pairInput() {
    using O = PairInput;
    return {
        choice(&O::input_type, "input_type", "Source", "Type of the source sequence.",
               {"token", "vector"}),
        integer(&O::input_size, "input_size", "Source size",
                "Vocabulary of the source tokens, or the dimension of its vectors.", 1, 10000000),
        choice(&O::output_type, "output_type", "Target", "Type of the target sequence.",
               {"token", "vector"}),
        integer(&O::output_size, "output_size", "Target size",
                "Vocabulary of the target tokens, or the dimension of its vectors.", 1, 10000000),
        integer(&O::out_dim, "out_dim", "Outputs", "Number of outputs of the model.", 1, 10000000),
        integer(&O::in_block_size, "in_block_size", "Source length",
                "Maximum length of the source sequence.", 1, 1048576),
        integer(&O::out_block_size, "out_block_size", "Target length",
                "Maximum length of the target sequence.", 1, 1048576),
        advanced(integer(&O::loss_ignore_idx, "loss_ignore_idx", "Ignored target",
                         "Targets with this value are ignored in the loss.", -1000000, 10000000))};
}

FieldTable<ObjectInput> objectInput() {
    using O = ObjectInput;
    return {
        integer(&O::out_dim, "out_dim", "Outputs", "Number of outputs of the model.", 1, 10000000),
        integer(&O::n_objects, "n_objects", "Objects", "Number of objects in a set.", 1, 65536),
        integer(&O::object_dim, "object_dim", "Object size", "Number of features of an object.", 1,
                1048576)};
}

std::string rootScale(std::int64_t d, std::int64_t heads) {
    return "1/sqrt(" + std::to_string(d / std::max<std::int64_t>(1, heads)) + ")";
}

FieldTable<SymbolOptions> symbolOptions(const std::vector<std::string>& kinds) {
    using O = SymbolOptions;
    const auto given = [&kinds](const char* kind) {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    const auto is = [](std::string kind) {
        return [kind = std::move(kind)](const O& o) { return o.symbol_retrieval == kind; };
    };
    const auto positional = is("positional_symbols"), relative = is("position_relative"),
               symbolic = is("symbolic_attention"), neighbours = is("rel_sym_attn");
    const auto library = [=](const O& o) { return symbolic(o) || neighbours(o); };
    FieldTable<O> t = {choice(&O::symbol_retrieval, "symbol_retrieval", "Symbols",
                              "How each sender is assigned a symbol that identifies it.", kinds)};
    if (given("positional_symbols"))
        t.push_back(advanced(when<O>(
            positional,
            integer(&O::max_length, "max_length", "Symbol rows",
                    "Rows of the positional symbol library; 0 means one per token.", 0, 1048576))));
    if (given("position_relative"))
        t.push_back(advanced(when<O>(
            relative,
            integer(&O::max_rel_pos, "max_rel_pos", "Largest offset",
                    "Offsets j - i above this share one symbol; 0 means the number of tokens.", 0,
                    1048576))));
    if (given("symbolic_attention") || given("rel_sym_attn")) {
        t.push_back(
            advanced(when<O>(library, integer(&O::n_symbols, "n_symbols", "Symbols in library",
                                              "Number of symbols in the library.", 1, 1048576))));
        t.push_back(advanced(when<O>(
            library, integer(&O::symbol_heads, "symbol_heads", "Symbol heads",
                             "Heads of the symbolic attention; must divide the width.", 1, 1024))));
        t.push_back(advanced(when<O>(
            library, real(&O::symbol_dropout, "symbol_dropout", "Symbol dropout",
                          "Dropout on the weights of the symbolic attention.", 0.0, 0.99))));
        t.push_back(advanced(when<O>(
            library,
            real(&O::symbol_scale, "symbol_scale", "Symbol scale",
                 "Scale of the symbolic attention; 0 means 1/sqrt(d / heads).", 0.0, 1e6))));
        t.push_back(advanced(when<O>(
            symbolic, boolean(&O::trainable_symbols, "trainable_symbols", "Trainable symbols",
                              "Makes the symbols trainable parameters."))));
    }
    if (!given("rel_sym_attn")) return t;
    t.push_back(advanced(when<O>(
        neighbours, integer(&O::rel_n_heads, "rel_n_heads", "Neighbour heads",
                            "Number of relations computed with each neighbour; must divide the "
                            "width.",
                            1, 1024))));
    t.push_back(advanced(when<O>(neighbours, integer(&O::nbhd_delta, "nbhd_delta", "Neighbourhood",
                                                     "Radius of the neighbourhood.", 1, 4096))));
    t.push_back(
        advanced(when<O>(neighbours, boolean(&O::causal_nbhd, "causal_nbhd", "Causal neighbourhood",
                                             "Uses earlier tokens only."))));
    t.push_back(
        advanced(when<O>(neighbours, boolean(&O::include_self, "include_self", "Include itself",
                                             "Includes the token itself in its neighbourhood."))));
    t.push_back(advanced(
        when<O>(neighbours, boolean(&O::normalize_rels, "normalize_rels", "Normalise relations",
                                    "Applies a softmax over the neighbourhood."))));
    t.push_back(advanced(
        when<O>(neighbours,
                real(&O::rel_scale, "rel_scale", "Relation scale",
                     "Scale of the neighbour relations; 0 means 1/sqrt(d / heads).", 0.0, 1e6))));
    return t;
}

}  // namespace relascope::core::fields
