// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of the groups of types/option_groups.h, for the architectures that inherit them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/architecture.h"

namespace relascope::core::fields {

FieldTable<StreamOptions> stream();
FieldTable<StackDepth> depth();
FieldTable<ImageInput> imageInput();
FieldTable<TokenInput> tokenInput();
FieldTable<PairInput> pairInput();
FieldTable<ObjectInput> objectInput();

/// The fields of an architecture: `own` between those of its depth and stream and of its input.
template <class Options>
FieldTable<Options> withGroups(std::vector<FieldTable<Options>> own) {
    FieldTable<Options> before, input;
    if constexpr (std::is_base_of_v<StackDepth, Options>) before = of<Options>(depth());
    if constexpr (std::is_base_of_v<StreamOptions, Options>)
        before = joined<Options>({before, of<Options>(stream())});
    if constexpr (std::is_base_of_v<ImageInput, Options>) input = of<Options>(imageInput());
    if constexpr (std::is_base_of_v<PairInput, Options>) input = of<Options>(pairInput());
    if constexpr (std::is_base_of_v<ObjectInput, Options>) input = of<Options>(objectInput());
    own.insert(own.begin(), std::move(before));
    own.push_back(std::move(input));
    return joined<Options>(std::move(own));
}

/// The kinds of symbols of DAT 2.3.
inline const std::vector<std::string> kSymbolKinds = {"positional_symbols", "position_relative",
                                                      "symbolic_attention", "rel_sym_attn"};
/// The fields of SymbolOptions that one of `kinds` needs. See `symbols` for fields that also tell
/// what 0 stands for.
FieldTable<SymbolOptions> symbolOptions(const std::vector<std::string>& kinds);

/// The scale of attention with `heads` heads on a stream of width d, in words: "1/sqrt(32)".
std::string rootScale(std::int64_t d, std::int64_t heads);

/// symbolOptions() of an architecture whose stream and longest input are known. `owns`: whether the
/// model has symbols with the current other values.
template <class Options>
FieldTable<Options> symbols(const std::vector<std::string>& kinds,
                            std::int64_t (*longest)(const Options&),
                            std::function<bool(const Options&)> owns = {}) {
    auto table = of<Options>(symbolOptions(kinds));
    for (auto& field : table) {
        const auto name = field.spec.name;
        if (owns)
            field.applies = [owns, inner = field.applies](const Options& o) {
                return owns(o) && inner(o);
            };
        if (name == "max_length" || name == "max_rel_pos")
            field.automatic = [longest](const Options& o) {
                const auto n = longest(o);
                return n > 0 ? std::to_string(n) : std::string();
            };
        if (name == "symbol_scale")
            field.automatic = [](const Options& o) { return rootScale(o.d_model, o.symbol_heads); };
        if (name == "rel_scale")
            field.automatic = [](const Options& o) { return rootScale(o.d_model, o.rel_n_heads); };
    }
    return table;
}

/// The number of objects of an image; 0 if the sizes are invalid.
template <class Options>
std::int64_t patchesOf(const Options& o) {
    const bool valid = o.image_shape.size() == 3 && o.patch_size.size() == 2 &&
                       o.patch_size[0] > 0 && o.patch_size[1] > 0;
    return valid ? o.patches() : 0;
}

// Fields that several architectures have in their own structs; `member` is the member.
template <class Options>
Field<Options> heads(std::int64_t Options::*member) {
    return integer<Options>(member, "n_heads_sa", "Sensory heads",
                            "Heads that aggregate the features of other objects.", 0, 1024);
}
template <class Options>
Field<Options> keyWidth(std::int64_t Options::*member, std::int64_t (*effective)(const Options&)) {
    return advanced(automatic(integer<Options>(member, "key_dim", "Key width",
                                               "Width of the queries, keys and values of each "
                                               "head; 0 means the default of the model.",
                                               0, 65536),
                              effective));
}
template <class Options>
Field<Options> hiddenWidth(std::int64_t Options::*member) {
    return integer<Options>(member, "hidden", "Hidden width",
                            "Width of the hidden layer between the relations and the outputs.", 1,
                            1048576);
}
template <class Options>
Field<Options> hiddenLayers(std::vector<std::int64_t> Options::*member) {
    return integers<Options>(member, "hidden_layers", "Hidden layers",
                             "Widths of the hidden layers.", 1, 1048576);
}
template <class Options>
Field<Options> selfAttention(bool Options::*member) {
    return boolean<Options>(member, "use_self_attn", "Self-attention",
                            "Adds self-attention between the abstract objects.");
}
template <class Options>
Field<Options> symbolWidth(std::int64_t Options::*member,
                           std::int64_t (*effective)(const Options&)) {
    return advanced(automatic(integer<Options>(member, "symbol_dim", "Symbol width",
                                               "Width of the symbols; 0 means d.", 0, 65536),
                              effective));
}
template <class Options>
Field<Options> relations(std::int64_t Options::*member) {
    return integer<Options>(member, "n_relations", "Relations",
                            "Number of relations r\u1D62\u2C7C.", 0, 4096);
}
template <class Options>
Field<Options> relationWidth(std::int64_t Options::*member) {
    return advanced(integer<Options>(member, "rel_proj_dim", "Relation projection",
                                     "Width of each relation's projections.", 0, 65536));
}
template <class Options>
Field<Options> symmetric(bool Options::*member) {
    return boolean<Options>(
        member, "symmetric_rels", "Symmetric",
        "Makes r\u1D62\u2C7C equal to r\u2C7C\u1D62 by using the same projection on both sides.");
}
template <class Options>
Field<Options> abstractorNorm(std::string Options::*member) {
    return advanced(choice<Options>(member, "abs_norm", "Abstractor norm",
                                    "Type of normalisation inside the Abstractor.",
                                    {"layernorm", "rmsnorm", "none"}));
}

}  // namespace relascope::core::fields
