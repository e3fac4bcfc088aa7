// What of ModelOptions cannot be built, in words.
#include <algorithm>
#include <utility>

#include "types/model_options.h"

namespace relascope {

std::vector<FieldProblem> ModelOptions::problems() const {
    std::vector<FieldProblem> found;
    const auto refuse = [&](std::string field, std::string message) {
        found.push_back({std::move(field), std::move(message)});
    };
    const auto n = [](std::int64_t value) { return std::to_string(value); };
    const auto atLeast = [&](const char* field, std::int64_t value, std::int64_t least) {
        if (value < least) refuse(field, "needs at least " + n(least) + ", not " + n(value));
    };
    const auto known = architectures();
    if (std::find(known.begin(), known.end(), architecture) == known.end()) {
        refuse("architecture", "unknown model '" + architecture + "'");
        return found;
    }
    // A form may hold any number; what cannot be divided by is refused before anything is.
    atLeast("d_model", d_model, 1);
    if (input() == InputKind::Pairs) {
        for (const auto& [field, value] : {std::pair{"input_size", input_size},
                                           {"output_size", output_size},
                                           {"out_dim", out_dim},
                                           {"in_block_size", in_block_size},
                                           {"out_block_size", out_block_size},
                                           {"n_layers_dec", n_layers_dec}})
            atLeast(field, value, 1);
    } else if (isVision() || isLanguage() || is("AbstractorModel") ||
               is("MessagePassingAbstractor") || is("ObjectTransformer")) {
        atLeast("n_layers", n_layers, 1);
    }
    if (input() == InputKind::Tokens) {
        atLeast("vocab_size", vocab_size, 1);
        atLeast("max_block_size", max_block_size, 1);
    }
    if (input() == InputKind::Objects) {
        atLeast("n_objects", n_objects, 1);
        atLeast("object_dim", object_dim, 1);
        atLeast("out_dim", out_dim, 1);
    }
    if (input() == InputKind::Images) {
        if (image_shape.size() != 3)
            refuse("image_shape", "needs three integers: channels, width, height");
        if (patch_size.size() != 2) refuse("patch_size", "needs two integers: width, height");
        if (!found.empty()) return found;
        const std::int64_t channels = image_norm == "fashion-mnist" ? 1 : 3;
        if (isVision() && image_norm != "none" && image_shape[0] != channels)
            refuse("image_norm", image_norm + " images have " + n(channels) + " channels, not " +
                                     n(image_shape[0]));
        for (int axis = 0; axis < 2; ++axis) {
            const std::int64_t image = image_shape[axis + 1], patch = patch_size[axis];
            if (patch < 1 || image < 1 || image % patch != 0)
                refuse("patch_size", n(patch) + " does not divide the image's " + n(image) +
                                         " pixels; give a divisor of " + n(image));
        }
    }
    if (!found.empty()) return found;

    if (isVision() || isLanguage() || isSeq2Seq() || is("ObjectTransformer"))
        for (const auto& p : BlockOptions::problems(d_model, isDual(), rotary()))
            refuse(p.field, p.message);
    if (isSeq2Seq()) {
        for (const auto& p : decoder.problems(d_model, isDual(), false))
            refuse(p.field == "d_model" ? "d_model" : "decoder." + p.field, p.message);
        const std::int64_t cross = isDual() ? n_heads_cross : decoder.n_heads_sa;
        if (cross < 1 || d_model % cross != 0)
            refuse("n_heads_cross", n(cross) + " heads do not divide the width " + n(d_model));
        else if (cross_n_kv_heads > 0 && cross % cross_n_kv_heads != 0)
            refuse("cross_n_kv_heads",
                   n(cross_n_kv_heads) + " does not divide the " + n(cross) + " heads");
        if (d_model % 2 != 0)
            refuse("d_model", "sinusoidal positions need an even width, not " + n(d_model));
    }
    const auto divides = [&](const char* field, std::int64_t heads, std::int64_t width) {
        if (heads < 1 || width % heads != 0)
            refuse(field, n(heads) + " does not divide the width " + n(width));
    };
    if (isSeq2SeqAbstractor()) {
        atLeast("n_heads_sa", n_heads_sa, 1);
        if (abstractor_architecture != "none") atLeast("n_layers_abs", n_layers_abs, 1);
        if (abstractor_architecture == "a" && n_layers_enc != 0)
            refuse("n_layers_enc", "architecture a has no encoder; give 0");
        if (abstractor_architecture != "a" && n_layers_enc < 1)
            refuse("n_layers_enc",
                   "architecture " + abstractor_architecture + " needs an encoder; give 1 or more");
        if (d_model % 2 != 0)
            refuse("d_model", "sinusoidal positions need an even width, not " + n(d_model));
        if (symbol_retrieval == "rel_sym_attn")
            refuse("symbol_retrieval", "the Abstractor has no rel_sym_attn; choose another");
        if (!relational && symbol_retrieval == "position_relative")
            refuse("symbol_retrieval",
                   "the ablation needs one symbol per object; position_relative is not supported");
        if (!relational && abs_residual == "objects")
            refuse("abs_residual", "the ablation adds the symbols; 'objects' is not supported");
    }
    if (is("ObjectAbstractor")) {
        atLeast("n_heads_abs", abstractorHeads(), 1);
        atLeast("n_layers_abs", n_layers_abs, 1);
        atLeast("hidden", hidden, 1);
        if (d_model % 2 != 0)
            refuse("d_model", "sinusoidal positions need an even width, not " + n(d_model));
    }
    if (is("AbstractorModel")) {
        divides("n_heads_sa", n_heads_sa, d_model);
        if (symbol_retrieval != "positional_symbols" && symbol_retrieval != "symbolic_attention")
            refuse("symbol_retrieval",
                   "this model supports positional_symbols or symbolic_attention");
    }
    if (isDual() && (symbol_retrieval == "learned" || symbol_retrieval == "sinusoidal"))
        refuse("symbol_retrieval",
               "'" + symbol_retrieval + "' symbols are supported by the Abstractor only");
    if (isLanguage() && isDual() && symbol_retrieval == "rel_sym_attn")
        refuse("symbol_retrieval", "the published language model does not offer rel_sym_attn");
    if (isLanguage() && isDual() && weight_tie_symbol_library && !shared_symbol_retriever &&
        symbol_retrieval == "position_relative")
        refuse("weight_tie_symbol_library", "cannot be combined with position-relative symbols");
    if (is("MessagePassingAbstractor")) {
        atLeast("n_relations", n_relations, 1);
        atLeast("rel_proj_dim", rel_proj_dim, 1);
        atLeast("hidden", hidden, 1);
        if (n_relations > 0 && d_model % n_relations != 0)
            refuse("n_relations", n(n_relations) + " does not divide the width " + n(d_model));
        if (use_self_attn) divides("n_heads_sa", n_heads_sa, d_model);
    }
    if (isOneHead() || is("RobustRegression")) atLeast("n_objects", n_objects, 2);
    if (isOneHead()) atLeast("n_relations", n_relations, 1);
    if (isOneHead() || is("InnerProductRelation")) atLeast("rel_proj_dim", rel_proj_dim, 1);
    if (is("InnerProductRelation") && n_objects != 2)
        refuse("n_objects", "an inner product needs 2 objects, not " + n(n_objects));
    if (is("InnerProductRelation") && out_dim != 1)
        refuse("out_dim", "an inner product has 1 output, not " + n(out_dim));
    if (is("RobustRegression") && out_dim != n_objects - 1)
        refuse("out_dim", "with " + n(n_objects - 1) + " symbols and one mixture there are " +
                              n(n_objects - 1) + " weights, not " + n(out_dim));
    if (is("PairRelations") || is("FixedRelationAbstractor")) {
        atLeast("n_relations", n_relations, 1);
        atLeast("rel_proj_dim", rel_proj_dim, 1);
    }
    if (is("PairRelations") && n_objects != 2)
        refuse("n_objects", "pairs have 2 objects, not " + n(n_objects));
    if (is("PairRelations") && n_relations != out_dim)
        refuse("n_relations",
               "must be equal to model.out_dim, " + n(out_dim) + ": one relation per output bit");
    if (is("PrediNet") || is("ObjectPrediNet")) {
        atLeast("n_heads_sa", n_heads_sa, 1);
        atLeast("n_relations", n_relations, 1);
    }
    if (isDual() || isSeq2SeqAbstractor() || is("AbstractorModel")) {
        // Every image has all tokens; a sequence may be short enough for few symbols.
        if (input() == InputKind::Images && symbol_retrieval == "positional_symbols" &&
            max_length > 0 && max_length < tokens())
            refuse("max_length", n(max_length) + " is fewer than the " + n(tokens()) + " tokens");
        if (symbol_retrieval == "symbolic_attention" || symbol_retrieval == "rel_sym_attn")
            divides("symbol_heads", symbol_heads, d_model);
        if (symbol_retrieval == "rel_sym_attn") divides("rel_n_heads", rel_n_heads, d_model);
    }
    return found;
}

}  // namespace relascope
