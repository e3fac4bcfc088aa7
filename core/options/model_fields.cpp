// The field table of ModelOptions: labels, bounds, and which architecture each option belongs to.
#include "types/model_options.h"

namespace relascope {

const std::vector<std::string>& ModelOptions::architectures() {
    static const std::vector<std::string> names = {"VisionDualAttnTransformer",
                                                   "VisionTransformer",
                                                   "AbstractorModel",
                                                   "CoRelNet",
                                                   "CoRelNetSoftmax",
                                                   "PrediNet",
                                                   "DualAttnTransformerLM",
                                                   "TransformerLM",
                                                   "Seq2SeqDualAttnTransformer",
                                                   "Seq2SeqTransformer",
                                                   "Seq2SeqAbstractor",
                                                   "MessagePassingAbstractor",
                                                   "ObjectAbstractor",
                                                   "ObjectCoRelNet",
                                                   "ObjectPrediNet",
                                                   "ObjectTransformer",
                                                   "RelationalHead",
                                                   "SensoryHead",
                                                   "RcaHead",
                                                   "InnerProductRelation",
                                                   "RobustRegression",
                                                   "ObjectMLP",
                                                   "SymbolicMLP",
                                                   "PairRelations",
                                                   "FixedRelationAbstractor"};
    return names;
}

namespace {

using Applies = std::function<bool(const ModelOptions&)>;

/// True for the architectures named.
Applies of(std::vector<std::string> names) {
    return [names = std::move(names)](const ModelOptions& o) {
        for (const auto& name : names)
            if (o.architecture == name) return true;
        return false;
    };
}
Applies both(Applies a, Applies b) {
    return [a = std::move(a), b = std::move(b)](const ModelOptions& o) { return a(o) && b(o); };
}

/// Which block options mean something to the model's (first) stack of blocks.
bool blockFieldApplies(const ModelOptions& o, const std::string& name, bool decoder) {
    const auto in = [&name](std::initializer_list<const char*> names) {
        for (const char* candidate : names)
            if (name == candidate) return true;
        return false;
    };
    if (o.isDual()) return in({"causal"}) ? o.isSeq2Seq() : !in({"rope"}) || o.isVision();
    if (o.isVision() || o.isLanguage() || o.isSeq2Seq() || o.is("ObjectTransformer")) {
        if (in({"n_heads_sa", "dff", "dropout_rate", "activation", "norm_first", "norm_type",
                "bias"}))
            return true;
        if (in({"causal"})) return o.isSeq2Seq();
        if (in({"rope"})) return o.isVision();
        return !decoder && in({"sa_n_kv_heads", "sa_key_dim", "sa_add_bias_kv"});
    }
    if (o.isSeq2SeqAbstractor() || o.is("ObjectAbstractor"))
        return in({"n_heads_sa", "dff", "dropout_rate", "symmetric_rels", "rca_activation"});
    if (o.is("AbstractorModel"))
        return in({"n_heads_sa", "dff", "dropout_rate", "activation", "norm_first"});
    if (o.is("MessagePassingAbstractor"))
        return in({"n_relations", "rel_proj_dim", "symmetric_rels", "rel_activation", "dff",
                   "dropout_rate"}) ||
               (o.use_self_attn && in({"n_heads_sa"}));
    if (o.is("ObjectCoRelNet")) return in({"symmetric_rels"});
    if (o.isOneHead()) return in({"n_relations", "rel_proj_dim"});
    if (o.is("InnerProductRelation")) return in({"rel_proj_dim", "symmetric_rels"});
    if (o.is("PairRelations") || o.is("FixedRelationAbstractor"))
        return in({"n_relations", "rel_proj_dim"});
    if (o.is("PrediNet") || o.is("ObjectPrediNet")) return in({"n_heads_sa", "n_relations"});
    return false;
}

/// What 0 stands for in those block options that follow the model's width; empty for the others.
std::string automaticWidth(const ModelOptions& o, const std::string& name, bool decoder) {
    const BlockOptions& block = decoder ? o.decoder : static_cast<const BlockOptions&>(o);
    const std::int64_t heads = block.n_heads_sa + (o.isDual() ? block.n_heads_ra : 0);
    if (name == "dff")
        return std::to_string(
            block.activation == "swiglu"
                ? static_cast<std::int64_t>(2.0 / 3.0 * 4.0 * static_cast<double>(o.d_model))
                : 4 * o.d_model);
    if (heads < 1 || (name != "rel_proj_dim" && name != "sa_key_dim" && name != "ra_key_dim"))
        return {};
    const std::int64_t head = o.d_model / heads;
    if (name != "rel_proj_dim") return std::to_string(head);
    if (!o.isDual() || block.relations() < 1) return {};
    return std::to_string(head * block.n_heads_ra / block.relations());
}

/// How many tokens the longest sequence has; empty while the options of the input are invalid.
std::string automaticLength(const ModelOptions& o) {
    if (o.input() == InputKind::Images) {
        if (o.image_shape.size() != 3 || o.patch_size.size() != 2) return {};
        if (o.patch_size[0] < 1 || o.patch_size[1] < 1) return {};
    }
    return std::to_string(o.longest());
}

/// "1/sqrt(32)", the scale of attention with `heads` heads on a stream of width d.
std::string rootScale(std::int64_t d, std::int64_t heads) {
    return "1/sqrt(" + std::to_string(d / std::max<std::int64_t>(1, heads)) + ")";
}

/// The block options of one of the model's stacks as options of the model.
void addBlockFields(FieldTable<ModelOptions>& table, bool decoder) {
    for (const auto& inner : BlockOptions::fieldTable()) {
        const auto block = [decoder](auto& o) -> auto& {
            using Block = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(o)>>,
                                             const BlockOptions, BlockOptions>;
            return decoder ? static_cast<Block&>(o.decoder) : static_cast<Block&>(o);
        };
        Field<ModelOptions> field;
        field.spec = inner.spec;
        if (decoder) {
            field.spec.name = "decoder." + inner.spec.name;
            field.spec.label = "Decoder: " + inner.spec.label;
            field.spec.advanced = inner.spec.advanced || (inner.spec.name != "n_heads_sa" &&
                                                          inner.spec.name != "n_heads_ra");
        }
        field.get = [inner, block](const ModelOptions& o) { return inner.get(block(o)); };
        field.set = [inner, block](ModelOptions& o, const FieldValue& v) {
            inner.set(block(o), v);
        };
        field.applies = [inner, block, decoder](const ModelOptions& o) {
            if (decoder && !o.isSeq2Seq()) return false;
            // Baselines keep to their own rules: the block's concern relational heads alone.
            return blockFieldApplies(o, inner.spec.name, decoder) &&
                   (!o.isDual() || inner.applies(block(o)));
        };
        if (inner.automatic)
            field.automatic = [inner, block](const ModelOptions& o) {
                // Other models need a number of relations that is given.
                if (inner.spec.name == "n_relations" && !o.isDual()) return std::string();
                return inner.automatic(block(o));
            };
        else if (inner.spec.kind == FieldKind::Integer)
            field.automatic = [name = inner.spec.name, decoder](const ModelOptions& o) {
                return automaticWidth(o, name, decoder);
            };
        table.push_back(std::move(field));
    }
}

void addInputFields(FieldTable<ModelOptions>& t) {
    using O = ModelOptions;
    using namespace fields;
    const auto images = Applies([](const O& o) { return o.input() == InputKind::Images; });
    const auto vision = Applies([](const O& o) { return o.isVision(); });
    const auto language = Applies([](const O& o) { return o.isLanguage(); });
    const auto dualLanguage = of({"DualAttnTransformerLM"});
    const auto pairs = Applies([](const O& o) { return o.input() == InputKind::Pairs; });
    const auto objects = Applies([](const O& o) { return o.input() == InputKind::Objects; });
    t.push_back(advanced(when<O>(
        vision, choice<O>(&O::pool, "pool", "Pooling",
                          "Input of the classifier: the mean of all tokens, or the class token.",
                          {"mean", "cls"}))));
    t.push_back(advanced(when<O>(
        vision,
        choice<O>(&O::image_norm, "image_norm", "Pixel normalisation",
                  "Normalises the pixels with the mean and standard deviation of a data set.",
                  {"none", "cifar10", "cifar100", "fashion-mnist"}))));
    t.push_back(advanced(when<O>(vision, boolean<O>(&O::final_norm, "final_norm", "Final norm",
                                                    "Normalises before the classifier."))));
    t.push_back(advanced(when<O>(
        images,
        integers<O>(&O::patch_size, "patch_size", "Patch size",
                    "Width and height of a patch in pixels; both must divide the image size.", 1,
                    4096))));
    t.push_back(advanced(when<O>(
        images, integers<O>(&O::image_shape, "image_shape", "Image shape",
                            "Channels, width and height; set from the data when a run starts.", 1,
                            65536))));
    t.push_back(advanced(when<O>(
        images,
        integer<O>(&O::num_classes, "num_classes", "Classes",
                   "Number of classes; set from the data when a run starts.", 1, 1000000))));
    t.push_back(when<O>(language, integer<O>(&O::vocab_size, "vocab_size", "Vocabulary",
                                             "Number of tokens in the vocabulary.", 1, 10000000)));
    t.push_back(when<O>(language, integer<O>(&O::max_block_size, "max_block_size", "Context",
                                             "Maximum number of input tokens.", 1, 1048576)));
    t.push_back(when<O>(language, choice<O>(&O::pos_enc_type, "pos_enc_type", "Positions",
                                            "Learned position embeddings, or rotary positions.",
                                            {"RoPE", "pos_emb"})));
    t.push_back(advanced(when<O>(
        dualLanguage, boolean<O>(&O::shared_symbol_retriever, "shared_symbol_retriever",
                                 "Shared symbols", "All layers share one symbol retriever."))));
    t.push_back(advanced(when<O>(
        both(dualLanguage, [](const O& o) { return !o.shared_symbol_retriever; }),
        boolean<O>(&O::weight_tie_symbol_library, "weight_tie_symbol_library", "Tied symbols",
                   "The retrievers of all layers share one symbol library."))));
    t.push_back(when<O>(pairs, choice<O>(&O::input_type, "input_type", "Source",
                                         "Type of the source sequence.", {"token", "vector"})));
    t.push_back(when<O>(pairs, integer<O>(&O::input_size, "input_size", "Source size",
                                          "Vocabulary of the source tokens, or the dimension of "
                                          "its vectors.",
                                          1, 10000000)));
    t.push_back(when<O>(pairs, choice<O>(&O::output_type, "output_type", "Target",
                                         "Type of the target sequence.", {"token", "vector"})));
    t.push_back(when<O>(pairs, integer<O>(&O::output_size, "output_size", "Target size",
                                          "Vocabulary of the target tokens, or the dimension of "
                                          "its vectors.",
                                          1, 10000000)));
    t.push_back(when<O>(
        [](const O& o) { return o.input() == InputKind::Pairs || o.input() == InputKind::Objects; },
        integer<O>(&O::out_dim, "out_dim", "Outputs", "Number of outputs of the model.", 1,
                   10000000)));
    t.push_back(when<O>(pairs, integer<O>(&O::in_block_size, "in_block_size", "Source length",
                                          "Maximum length of the source sequence.", 1, 1048576)));
    t.push_back(when<O>(pairs, integer<O>(&O::out_block_size, "out_block_size", "Target length",
                                          "Maximum length of the target sequence.", 1, 1048576)));
    t.push_back(when<O>(objects, integer<O>(&O::n_objects, "n_objects", "Objects",
                                            "Number of objects in a set.", 1, 65536)));
    t.push_back(when<O>(objects, integer<O>(&O::object_dim, "object_dim", "Object size",
                                            "Number of features of an object.", 1, 1048576)));
}

void addSequenceFields(FieldTable<ModelOptions>& t) {
    using O = ModelOptions;
    using namespace fields;
    const auto seq2seq = Applies([](const O& o) { return o.isSeq2Seq(); });
    const auto dual = of({"Seq2SeqDualAttnTransformer"});
    t.push_back(
        when<O>(seq2seq, integer<O>(&O::n_heads_cross, "n_heads_cross", "Cross heads",
                                    "Heads of the decoder that attend to the encoder.", 1, 1024)));
    t.push_back(advanced(when<O>(
        dual,
        automatic(integer<O>(&O::cross_n_kv_heads, "cross_n_kv_heads", "Cross key heads",
                             "Number of key and value heads, shared by groups of cross heads; 0 "
                             "means one per head.",
                             0, 1024),
                  [](const O& o) { return o.n_heads_cross; }))));
    t.push_back(advanced(when<O>(
        dual,
        automatic(
            integer<O>(&O::cross_key_dim, "cross_key_dim", "Cross key width",
                       "Width of the cross queries and keys; 0 means the head width.", 0, 65536),
            [](const O& o) { return o.d_model / std::max<std::int64_t>(1, o.n_heads_cross); }))));
    t.push_back(advanced(
        when<O>(dual, boolean<O>(&O::cross_add_bias_kv, "cross_add_bias_kv", "Cross key bias",
                                 "Adds a bias to the cross key and value projections."))));
    t.push_back(advanced(
        when<O>(dual, boolean<O>(&O::cross_add_bias_out, "cross_add_bias_out", "Cross output bias",
                                 "Adds a bias to the cross output projection."))));
    t.push_back(
        advanced(when<O>(seq2seq, boolean<O>(&O::tie_weights, "tie_weights", "Second name",
                                             "Stores the output layer under a second name, as in "
                                             "the published code; no weights are tied."))));
    t.push_back(advanced(when<O>(
        [](const O& o) { return o.input() == InputKind::Pairs; },
        integer<O>(&O::loss_ignore_idx, "loss_ignore_idx", "Ignored target",
                   "Targets with this value are ignored in the loss.", -1000000, 10000000))));
}

void addAbstractorFields(FieldTable<ModelOptions>& t) {
    using O = ModelOptions;
    using namespace fields;
    const auto seq = of({"Seq2SeqAbstractor", "ObjectAbstractor"});
    const auto relational = both(seq, [](const O& o) { return o.relational; });
    const auto two = both(seq, [](const O& o) {
        return o.abstractor_architecture == "c" || o.abstractor_architecture == "d";
    });
    t.push_back(when<O>(
        seq, choice<O>(&O::abstractor_architecture, "abstractor_architecture", "Architecture a-d",
                       "a: abstractor, decoder. b: encoder, abstractor, decoder. c: the decoder "
                       "attends to the encoder and to an abstractor of the input. d: the decoder "
                       "attends to the encoder and to an abstractor of its output. none: encoder, "
                       "decoder; a Transformer with the same blocks.",
                       {"a", "b", "c", "d", "none"})));
    t.push_back(when<O>(
        two, choice<O>(&O::decoder_contexts, "decoder_contexts", "Contexts",
                       "One decoder layer per context, in sequence, or both contexts in parallel.",
                       {"in-turn", "concatenated"})));
    t.push_back(when<O>(seq, integer<O>(&O::n_layers_abs, "n_layers_abs", "Abstractor layers",
                                        "Number of layers of an Abstractor.", 1, 1000)));
    t.push_back(advanced(when<O>(
        seq,
        integer<O>(&O::n_abstractors, "n_abstractors", "Chain",
                   "Number of Abstractors in sequence: relations between relations.", 1, 100))));
    t.push_back(when<O>(
        seq,
        boolean<O>(
            &O::relational, "relational", "Relational",
            "If off, the ablation: queries from the symbols, keys and values from the encoder.")));
    t.push_back(when<O>(of({"Seq2SeqAbstractor", "ObjectAbstractor", "AbstractorModel",
                            "MessagePassingAbstractor"}),
                        boolean<O>(&O::use_self_attn, "use_self_attn", "Self-attention",
                                   "Adds self-attention between the abstract objects.")));
    t.push_back(advanced(when<O>(
        seq,
        automatic(integer<O>(&O::n_heads_abs, "n_heads_abs", "Abstractor heads",
                             "Heads of the Abstractor; 0 means the same as in the other blocks.", 0,
                             1024),
                  [](const O& o) { return o.n_heads_sa; }))));
    t.push_back(advanced(when<O>(
        seq,
        automatic(integer<O>(&O::dff_abs, "dff_abs", "Abstractor width",
                             "Feed-forward width of the Abstractor; 0 means the same as in the "
                             "other blocks.",
                             0, 1048576),
                  [](const O& o) {
                      return o.dff > 0 ? std::to_string(o.dff) : automaticWidth(o, "dff", false);
                  }))));
    t.push_back(advanced(when<O>(
        of({"Seq2SeqAbstractor", "ObjectAbstractor", "ObjectCoRelNet", "PrediNet", "ObjectPrediNet",
            "RelationalHead", "SensoryHead", "RcaHead"}),
        automatic(integer<O>(&O::key_dim, "key_dim", "Key width",
                             "Width of the queries, keys and values of each head; 0 means the "
                             "default of the model.",
                             0, 65536),
                  [](const O& o) {
                      return o.is("PrediNet") || o.is("ObjectPrediNet")
                                 ? o.d_model / std::max<std::int64_t>(1, o.n_heads_sa)
                                 : o.d_model;
                  }))));
    t.push_back(advanced(
        when<O>(seq, boolean<O>(&O::abs_feed_forward, "abs_feed_forward", "Abstractor feed-forward",
                                "Adds a feed-forward block to each Abstractor layer."))));
    t.push_back(advanced(when<O>(
        seq, choice<O>(&O::abs_residual, "abs_residual", "Abstractor residual",
                       "Residual added to the relational cross-attention: the abstract objects, "
                       "the objects themselves (which passes sensory information), or none.",
                       {"symbols", "objects", "none"}))));
    t.push_back(
        advanced(when<O>(of({"Seq2SeqAbstractor", "ObjectAbstractor", "MessagePassingAbstractor"}),
                         choice<O>(&O::abs_norm, "abs_norm", "Abstractor norm",
                                   "Type of normalisation inside the Abstractor.",
                                   {"layernorm", "rmsnorm", "none"}))));
    t.push_back(advanced(when<O>(
        seq, boolean<O>(
                 &O::abs_norm_first, "abs_norm_first", "Abstractor norm first",
                 "Normalises before each sub-layer (pre-norm) instead of after it (post-norm)."))));
    t.push_back(advanced(
        when<O>(relational,
                boolean<O>(&O::rca_scaled, "rca_scaled", "Scaled relations",
                           "Divides the inner products by the square root of the key width."))));
    t.push_back(
        advanced(when<O>(relational, boolean<O>(&O::mask_diagonal, "mask_diagonal", "Mask diagonal",
                                                "Masks the relation of each object to itself."))));
    t.push_back(
        when<O>(seq, boolean<O>(&O::symbol_positions, "symbol_positions", "Symbol positions",
                                "Adds sinusoidal position embeddings to the symbols.")));
    t.push_back(advanced(when<O>(of({"MessagePassingAbstractor", "FixedRelationAbstractor",
                                     "RelationalHead", "SensoryHead", "RcaHead"}),
                                 automatic(integer<O>(&O::symbol_dim, "symbol_dim", "Symbol width",
                                                      "Width of the symbols; 0 means d.", 0, 65536),
                                           [](const O& o) { return o.d_model; }))));
    t.push_back(
        advanced(when<O>(of({"MessagePassingAbstractor"}),
                         boolean<O>(&O::message_softmax, "message_softmax", "Softmax over senders",
                                    "Applies a softmax over the relations of each receiver before "
                                    "the messages are summed."))));
    t.push_back(when<O>(of({"ObjectCoRelNet"}),
                        boolean<O>(&O::relation_softmax, "relation_softmax", "Softmax",
                                   "Applies a softmax to each row of the relation matrix.")));
    t.push_back(
        when<O>(of({"MessagePassingAbstractor", "ObjectAbstractor", "ObjectCoRelNet",
                    "ObjectPrediNet", "ObjectTransformer"}),
                integer<O>(&O::hidden, "hidden", "Hidden width",
                           "Width of the hidden layer between the relations and the outputs.", 1,
                           1048576)));
    t.push_back(when<O>(of({"ObjectMLP", "SymbolicMLP", "FixedRelationAbstractor"}),
                        integers<O>(&O::hidden_layers, "hidden_layers", "Hidden layers",
                                    "Widths of the hidden layers.", 1, 1048576)));
}

void addSymbolFields(FieldTable<ModelOptions>& t) {
    using O = ModelOptions;
    using namespace fields;
    const auto owns = Applies([](const O& o) {
        return (o.isDual() && (o.n_heads_ra > 0 || (o.isSeq2Seq() && o.decoder.n_heads_ra > 0))) ||
               o.isSeq2SeqAbstractor() || o.is("ObjectAbstractor") || o.is("AbstractorModel");
    });
    const auto kind = [owns](std::vector<std::string> kinds) {
        return both(owns, [kinds = std::move(kinds)](const O& o) {
            for (const auto& name : kinds)
                if (o.symbol_retrieval == name) return true;
            return false;
        });
    };
    const auto library = kind({"symbolic_attention", "rel_sym_attn"});
    const auto neighbours = kind({"rel_sym_attn"});
    t.push_back(
        when<O>(owns, choice<O>(&O::symbol_retrieval, "symbol_retrieval", "Symbols",
                                "How each sender is assigned a symbol that identifies it (learned "
                                "and sinusoidal: Abstractor only).",
                                {"positional_symbols", "position_relative", "symbolic_attention",
                                 "rel_sym_attn", "learned", "sinusoidal"})));
    t.push_back(advanced(when<O>(
        kind({"positional_symbols"}),
        automatic(
            integer<O>(&O::max_length, "max_length", "Symbol rows",
                       "Rows of the positional symbol library; 0 means one per token.", 0, 1048576),
            automaticLength))));
    t.push_back(advanced(when<O>(
        kind({"position_relative"}),
        automatic(
            integer<O>(&O::max_rel_pos, "max_rel_pos", "Largest offset",
                       "Offsets j - i above this share one symbol; 0 means the number of tokens.",
                       0, 1048576),
            automaticLength))));
    t.push_back(
        advanced(when<O>(library, integer<O>(&O::n_symbols, "n_symbols", "Symbols in library",
                                             "Number of symbols in the library.", 1, 1048576))));
    t.push_back(advanced(when<O>(
        library, integer<O>(&O::symbol_heads, "symbol_heads", "Symbol heads",
                            "Heads of the symbolic attention; must divide the width.", 1, 1024))));
    t.push_back(advanced(
        when<O>(library, real<O>(&O::symbol_dropout, "symbol_dropout", "Symbol dropout",
                                 "Dropout on the weights of the symbolic attention.", 0.0, 0.99))));
    t.push_back(advanced(when<O>(
        library,
        automatic(real<O>(&O::symbol_scale, "symbol_scale", "Symbol scale",
                          "Scale of the symbolic attention; 0 means 1/sqrt(d / heads).", 0.0, 1e6),
                  [](const O& o) { return rootScale(o.d_model, o.symbol_heads); }))));
    t.push_back(
        advanced(when<O>(kind({"symbolic_attention"}),
                         boolean<O>(&O::trainable_symbols, "trainable_symbols", "Trainable symbols",
                                    "Makes the symbols trainable parameters."))));
    t.push_back(advanced(when<O>(
        neighbours,
        integer<O>(&O::rel_n_heads, "rel_n_heads", "Neighbour heads",
                   "Number of relations computed with each neighbour; must divide the width.", 1,
                   1024))));
    t.push_back(
        advanced(when<O>(neighbours, integer<O>(&O::nbhd_delta, "nbhd_delta", "Neighbourhood",
                                                "Radius of the neighbourhood.", 1, 4096))));
    t.push_back(advanced(
        when<O>(neighbours, boolean<O>(&O::causal_nbhd, "causal_nbhd", "Causal neighbourhood",
                                       "Uses earlier tokens only."))));
    t.push_back(advanced(
        when<O>(neighbours, boolean<O>(&O::include_self, "include_self", "Include itself",
                                       "Includes the token itself in its neighbourhood."))));
    t.push_back(advanced(
        when<O>(neighbours, boolean<O>(&O::normalize_rels, "normalize_rels", "Normalise relations",
                                       "Applies a softmax over the neighbourhood."))));
    t.push_back(advanced(when<O>(
        [neighbours](const O& o) { return neighbours(o) || o.is("RobustRegression"); },
        automatic(real<O>(&O::rel_scale, "rel_scale", "Relation scale",
                          "Scale of the neighbour relations; 0 means 1/sqrt(d / heads). Robust "
                          "regression: the weight lambda of the sparsity penalty; 0 for dense "
                          "mixtures.",
                          0.0, 1e6),
                  [neighbours](const O& o) {
                      return neighbours(o) ? rootScale(o.d_model, o.rel_n_heads) : std::string();
                  }))));
}

}  // namespace

const FieldTable<ModelOptions>& ModelOptions::fieldTable() {
    using O = ModelOptions;
    using namespace fields;
    static const FieldTable<O> table = [] {
        FieldTable<O> t;
        t.push_back(choice<O>(&O::architecture, "architecture", "Architecture",
                              "Model class: dual attention, its Transformer baselines, the "
                              "Abstractor, or another relational baseline.",
                              architectures()));
        t.push_back(
            when<O>(of({"VisionDualAttnTransformer", "VisionTransformer", "DualAttnTransformerLM",
                        "TransformerLM", "AbstractorModel", "MessagePassingAbstractor",
                        "ObjectTransformer"}),
                    integer<O>(&O::n_layers, "n_layers", "Layers", "Number of blocks.", 1, 1000)));
        const auto pairs = [](const O& o) { return o.input() == InputKind::Pairs; };
        t.push_back(when<O>(
            [](const O& o) {
                return o.isSeq2Seq() ||
                       (o.isSeq2SeqAbstractor() && o.abstractor_architecture != "a");
            },
            integer<O>(&O::n_layers_enc, "n_layers_enc", "Encoder layers",
                       "Number of encoder blocks.", 0, 1000)));
        t.push_back(when<O>(pairs, integer<O>(&O::n_layers_dec, "n_layers_dec", "Decoder layers",
                                              "Number of decoder blocks.", 1, 1000)));
        t.push_back(when<O>(
            [](const O& o) {
                return !o.is("ObjectPrediNet") && !o.is("ObjectMLP") && !o.is("SymbolicMLP") &&
                       !o.is("PairRelations") && !o.is("FixedRelationAbstractor") &&
                       !o.is("RobustRegression");
            },
            integer<O>(&O::d_model, "d_model", "Width d",
                       "Width of the residual stream; a multiple of the number of heads.", 1,
                       65536)));
        addBlockFields(t, false);
        addSymbolFields(t);
        addAbstractorFields(t);
        addBlockFields(t, true);
        addSequenceFields(t);
        addInputFields(t);
        return t;
    }();
    return table;
}

}  // namespace relascope
