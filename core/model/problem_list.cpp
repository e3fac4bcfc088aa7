// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/problem_list.h"

namespace relascope::core {

void ProblemList::images(const ImageInput& o) {
    if (o.image_shape.size() != 3)
        refuse("image_shape", "needs three integers: channels, width, height");
    if (o.patch_size.size() != 2) refuse("patch_size", "needs two integers: width, height");
    if (o.image_shape.size() != 3 || o.patch_size.size() != 2) return;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::int64_t image = o.image_shape[axis + 1], patch = o.patch_size[axis];
        const auto pixels = std::to_string(image);
        if (patch < 1 || image < 1 || image % patch != 0)
            refuse("patch_size", std::to_string(patch) + " does not divide the image's " + pixels +
                                     " pixels; give a divisor of " + pixels);
    }
}

void ProblemList::symbols(const SymbolOptions& o, std::int64_t d, std::int64_t fixedLength) {
    // Every image has all tokens, whereas sequences may be short enough for few symbols.
    if (o.symbol_retrieval == "positional_symbols" && o.max_length > 0 &&
        o.max_length < fixedLength)
        refuse("max_length", std::to_string(o.max_length) + " is fewer than the " +
                                 std::to_string(fixedLength) + " tokens");
    const bool neighbours = o.symbol_retrieval == "rel_sym_attn";
    if (neighbours || o.symbol_retrieval == "symbolic_attention")
        divides("symbol_heads", o.symbol_heads, d);
    if (neighbours) divides("rel_n_heads", o.rel_n_heads, d);
}

void ProblemList::blockSymbols(const SymbolOptions& o, std::int64_t d, std::int64_t fixedLength) {
    if (o.symbol_retrieval == "learned" || o.symbol_retrieval == "sinusoidal")
        refuse("symbol_retrieval",
               "'" + o.symbol_retrieval + "' symbols are supported by the Abstractor only");
    symbols(o, d, fixedLength);
}

}  // namespace relascope::core
