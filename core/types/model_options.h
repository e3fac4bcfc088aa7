// Which model, and how large. Names and defaults are those of the published constructors.
#pragma once

#include <string>
#include <vector>

#include "types/block_options.h"

namespace relascope {

/// What a model is fed with.
enum class InputKind {
    Images,   ///< [b, channels, height, width] in 0..1
    Tokens,   ///< [b, n] ids, one sequence
    Pairs,    ///< a source sequence and a target sequence, each of tokens or of vectors
    Objects,  ///< [b, n_objects, object_dim]
};

/// Options of every model (models.md section 5), one flat struct so that --set model.NAME reaches
/// each of them. The inherited block options are those of the only stack, or of the encoder; the
/// decoder of a sequence-to-sequence model has its own under `decoder.`.
struct ModelOptions : BlockOptions {
    std::string architecture = "VisionDualAttnTransformer";
    std::int64_t d_model = 128;
    std::int64_t n_layers = 2;

    // Images
    std::vector<std::int64_t> image_shape = {3, 36, 36};  // channels, width, height
    std::vector<std::int64_t> patch_size = {12, 12};      // width, height
    std::int64_t num_classes = 2;
    std::string pool = "mean";
    bool final_norm = false;          // newer checkpoints: a norm before the classifier
    std::string image_norm = "none";  // mean and deviation taken out of the pixels: none | cifar10
                                      // | cifar100 | fashion-mnist

    // Language
    std::int64_t vocab_size = 256;
    std::int64_t max_block_size = 256;
    std::string pos_enc_type = "RoPE";
    bool shared_symbol_retriever = true;
    bool weight_tie_symbol_library = false;

    // Sequence to sequence
    std::string input_type = "token";  // or "vector"
    std::int64_t input_size = 85;      // vocabulary, or dimension
    std::string output_type = "token";
    std::int64_t output_size = 85;
    std::int64_t out_dim = 85;
    std::int64_t n_layers_enc = 2;
    std::int64_t n_layers_dec = 2;
    std::int64_t in_block_size = 161;
    std::int64_t out_block_size = 31;
    bool tie_weights = false;  // stores final_out under a second name; ties nothing
    std::int64_t loss_ignore_idx = -1;
    BlockOptions decoder;
    std::int64_t n_heads_cross = 8;
    std::int64_t cross_n_kv_heads = 0, cross_key_dim = 0;
    bool cross_add_bias_kv = false, cross_add_bias_out = false;

    // Abstractor: the module, and how it stands between encoder and decoder
    std::string abstractor_architecture = "b";
    std::string decoder_contexts = "in-turn";
    std::int64_t n_abstractors = 1;
    std::int64_t n_layers_abs = 1;
    std::int64_t n_heads_abs = 0;  // 0: n_heads_sa
    std::int64_t dff_abs = 0;      // 0: dff
    std::int64_t key_dim = 0;      // 0: d_model, every head that wide
    bool relational = true;        // false: the ablation
    bool use_self_attn = true;
    bool abs_feed_forward = true;
    std::string abs_residual = "symbols";
    std::string abs_norm = "layernorm";
    bool abs_norm_first = false;
    bool rca_scaled = true;
    bool mask_diagonal = false;
    bool symbol_positions = false;
    std::int64_t symbol_dim = 0;  // 0: d_model

    // Sets of objects: message passing, CoRelNet, PrediNet, MLP
    std::int64_t n_objects = 3;
    std::int64_t object_dim = 8;
    bool message_softmax = false;
    std::int64_t hidden = 32;
    std::vector<std::int64_t> hidden_layers = {32, 32};
    bool relation_softmax = true;

    // Symbols
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

    bool is(const char* name) const { return architecture == name; }
    bool isVision() const { return is("VisionDualAttnTransformer") || is("VisionTransformer"); }
    bool isLanguage() const { return is("DualAttnTransformerLM") || is("TransformerLM"); }
    bool isSeq2Seq() const { return is("Seq2SeqDualAttnTransformer") || is("Seq2SeqTransformer"); }
    bool isSeq2SeqAbstractor() const { return is("Seq2SeqAbstractor"); }
    bool isDual() const {
        return is("VisionDualAttnTransformer") || is("DualAttnTransformerLM") ||
               is("Seq2SeqDualAttnTransformer");
    }
    /// One attention head with feature maps (DAT 2.4).
    bool isOneHead() const { return is("RelationalHead") || is("SensoryHead") || is("RcaHead"); }
    bool isCoRelNet() const {
        return is("CoRelNet") || is("CoRelNetSoftmax") || is("ObjectCoRelNet");
    }
    InputKind input() const {
        if (isLanguage()) return InputKind::Tokens;
        if (isSeq2Seq() || isSeq2SeqAbstractor()) return InputKind::Pairs;
        if (is("MessagePassingAbstractor") || is("SymbolicMLP") || is("PairRelations") ||
            is("FixedRelationAbstractor") || isOneHead() || is("InnerProductRelation") ||
            is("RobustRegression") || architecture.rfind("Object", 0) == 0)
            return InputKind::Objects;
        return InputKind::Images;
    }
    /// How many numbers the model gives: classes, vocabulary rows or logits.
    std::int64_t outputs() const {
        switch (input()) {
            case InputKind::Images:
                return num_classes;
            case InputKind::Tokens:
                return vocab_size;
            case InputKind::Pairs:
            case InputKind::Objects:
                break;
        }
        return out_dim;
    }
    /// The target that counts for no loss; -1: every one counts.
    std::int64_t ignoredTarget() const {
        return input() == InputKind::Pairs && loss_ignore_idx >= 0 ? loss_ignore_idx : -1;
    }
    std::int64_t heads() const { return n_heads_sa + (isDual() ? n_heads_ra : 0); }
    std::int64_t headDim() const { return d_model / heads(); }
    bool rotary() const { return isLanguage() ? pos_enc_type == "RoPE" : rope; }
    std::int64_t channels() const { return image_shape.at(0); }
    std::int64_t gridColumns() const { return image_shape.at(1) / patch_size.at(0); }
    std::int64_t gridRows() const { return image_shape.at(2) / patch_size.at(1); }
    std::int64_t patches() const { return gridRows() * gridColumns(); }
    std::int64_t patchDim() const { return channels() * patch_size.at(0) * patch_size.at(1); }
    /// Objects of the longest input: patches and class token, context, source sequence, set.
    std::int64_t tokens() const {
        switch (input()) {
            case InputKind::Images:
                return patches() + (isVision() ? 1 : 0);
            case InputKind::Tokens:
                return max_block_size;
            case InputKind::Pairs:
                return in_block_size;
            case InputKind::Objects:
                break;
        }
        return n_objects;
    }
    /// Of the longest sequence, on either side.
    std::int64_t longest() const {
        return input() == InputKind::Pairs && out_block_size > tokens() ? out_block_size : tokens();
    }
    std::int64_t symbolRows() const { return max_length > 0 ? max_length : longest(); }
    std::int64_t largestOffset() const { return max_rel_pos > 0 ? max_rel_pos : longest(); }
    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : d_model; }
    std::int64_t symbolDim() const { return symbol_dim > 0 ? symbol_dim : d_model; }
    std::int64_t abstractorHeads() const { return n_heads_abs > 0 ? n_heads_abs : n_heads_sa; }
    std::int64_t abstractorDff() const { return dff_abs > 0 ? dff_abs : dff; }

    /// Every value that cannot be built, field by field, before anything is allocated.
    std::vector<FieldProblem> problems() const;
    /// Throws OptionError ("model.FIELD: ...") with the first problem.
    void check() const {
        const auto found = problems();
        if (!found.empty()) throw OptionError("model." + found[0].field, found[0].message);
    }

    bool operator==(const ModelOptions&) const = default;
    static const FieldTable<ModelOptions>& fieldTable();
    /// Every architecture the factory builds, in the order of the form.
    static const std::vector<std::string>& architectures();
};

}  // namespace relascope
