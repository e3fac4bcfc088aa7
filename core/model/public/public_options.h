// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the decoders and image classifiers of public families, which are opened from their
// checkpoints (family.h). Does not include torch.
#pragma once

#include <string>

#include "model/language/language_options.h"
#include "model/vision/vision_options.h"
#include "types/model_options.h"

namespace relascope::core {

inline constexpr const char* kPublicDecoder = "PublicDecoder";
inline constexpr const char* kPublicEncoder = "PublicEncoder";
inline constexpr const char* kPublicDualDecoder = "PublicDualDecoder";
inline constexpr const char* kPublicImageModel = "PublicImageModel";

/// The family that a model is of: Family::type.
struct FamilyName {
    std::string family;
    bool ff_bias = true;  ///< in the feed-forward blocks
    bool operator==(const FamilyName&) const = default;
};

/// DocumentOptions::document_start of a model that takes it from the tokenizer when its training
/// begins: the token between documents, where the tokenizer has one.
inline constexpr std::int64_t kStartOfTokenizer = -2;

/// The output layer of a decoder.
struct OutputLayer {
    bool tie_word_embeddings = true;  ///< it is the embedding
    bool operator==(const OutputLayer&) const = default;
};

/// Options of decoders of public families. `bias`: the bias of the attention's output.
struct PublicDecoderOptions : TransformerLMOptions,
                              BlockDetails,
                              DocumentOptions,
                              FamilyName,
                              OutputLayer,
                              EndDetails,
                              OutputForm {
    PublicDecoderOptions() { soft_cap = 0.0, row_multiple = 1; }
    bool operator==(const PublicDecoderOptions&) const = default;
};

/// What encoders have besides: they read a text in both directions, and answer at each place with
/// the word there, of scores output(norm(activation(dense x))).
struct EncoderDetails {
    std::int64_t token_types = 0;   ///< rows, of which every token has the first; 0: none
    std::int64_t padding_row = -1;  ///< tokens of this id have the row before the first position,
                                    ///< and are not counted; -1: none
    std::string head_activation = "exact_gelu";
    bool head_bias = true;  ///< the dense layer has a bias

    bool operator==(const EncoderDetails&) const = default;
};

struct PublicEncoderOptions : PublicDecoderOptions, EncoderDetails {
    bool operator==(const PublicEncoderOptions&) const = default;
};

/// Whether the first attention reads a normed stream; ModernBERT's is normed where it begins.
bool normsFirstAttention(const PublicEncoderOptions& options);

/// Options of decoders of public families that have relational heads.
struct PublicDualDecoderOptions : DualAttnTransformerLMOptions,
                                  BlockDetails,
                                  SymbolDetails,
                                  DocumentOptions,
                                  FamilyName,
                                  OutputLayer {
    std::int64_t symbolDim() const { return symbol_dim > 0 ? symbol_dim : d_model; }
    bool operator==(const PublicDualDecoderOptions&) const = default;
};

/// The text tower of a model of images and texts (CLIP, SigLIP), whose answer to a picture are the
/// texts that fit it.
struct TextTowerOptions {
    std::int64_t text_layers = 0;  ///< 0: there is none
    std::int64_t text_width = 512, text_heads = 8, text_dff = 2048;
    std::int64_t text_vocab = 49408, text_places = 77;  ///< the most tokens of a text
    std::string text_activation = "quick_gelu";
    double text_eps = 1e-5;
    bool text_causal = true;
    /// The token whose place is read: the first of this id; the largest id (kLargestToken), or the
    /// last place (kLastPlace).
    std::int64_t text_end = 49407;
    bool text_projection_bias = false;
    bool logit_bias = false;  ///< SigLIP's, with a sigmoid of each text

    static constexpr std::int64_t kLargestToken = -1, kLastPlace = -2;
    bool hasTexts() const { return text_layers > 0; }
    bool operator==(const TextTowerOptions&) const = default;
};

/// How a model of images ends, behind the stream [n, d] of its last block: norm, pool, norm,
/// projection, classifier, each where it has them.
struct ImageEndOptions {
    bool norm_all = true;  ///< a norm of all tokens, before they are pooled
    /// VisionTransformerOptions::pool is "cls" (the first token), "mean" (of the patches), "query"
    /// (a learned query reads them by attention) or "cls_mean" (the first token and the mean).
    bool pool_all = false;     ///< the mean, or the query, counts the first tokens as well
    bool norm_pooled = false;  ///< a norm of what was pooled
    std::int64_t query_dff = 0;
    std::int64_t projection = 0;  ///< width that the pooled vector is projected to; 0: it is not
    bool projection_bias = false;
    bool operator==(const ImageEndOptions&) const = default;
};

struct PublicImageOptions : VisionTransformerOptions,
                            BlockDetails,
                            FamilyName,
                            ImageEndOptions,
                            TextTowerOptions {
    std::int64_t first_tokens = 1;  ///< the class token, and one for distillation; 0: neither
    std::int64_t registers = 0;     ///< further tokens behind these, before the patches
    bool two_classifiers = false;   ///< for the first two tokens; the answer is their mean
    /// Where classes come from: a classifier of the file ("own"), or a head that was given to the
    /// opened model (PublicImageModelImpl::head): "texts", "means", "ridge".
    std::string answer = "own";
    /// Which tokens have learned positions: all, all but registers ("class"), patches, none.
    std::string positions = "all";
    /// The grid of patches, width and height, that positions were learned for; those of another
    /// grid are scaled from it. 0: that of the images.
    std::vector<std::int64_t> position_grid = {0, 0};
    std::string position_scaling = "bicubic";  ///< bicubic, bicubic_aa, bilinear_aa
    bool embed_norm = false;                   ///< a norm of the stream that the blocks begin with
    bool patch_bias = true;                    ///< on the projection of patches
    bool ff_gate = false;  ///< the feed-forward has a gate, under names of its own (DINOv3)
    /// How pictures become images of the model (options/image_processor.h); empty: the model gets
    /// pixels as they are, without mean and deviation.
    std::string preprocessor;

    bool hasClassifier() const { return num_classes > 0 && answer == "own" && !two_classifiers; }
    /// The tokens before the patches.
    std::int64_t before() const { return first_tokens + registers; }
    /// The number of first tokens, registers and patches.
    std::int64_t tokens() const { return patches() + before(); }
    /// That grid.
    std::int64_t learnedColumns() const {
        return position_grid.at(0) > 0 ? position_grid.at(0) : gridColumns();
    }
    std::int64_t learnedRows() const {
        return position_grid.at(1) > 0 ? position_grid.at(1) : gridRows();
    }
    /// The tokens before the patches that have positions.
    std::int64_t positionsBefore() const {
        return positions == "all" ? before() : positions == "class" ? first_tokens : 0;
    }
    /// The rows of the learned positions.
    std::int64_t positionRows() const {
        return positions == "none" ? 0 : learnedRows() * learnedColumns() + positionsBefore();
    }
    /// Width of what the model says of a picture, before a classifier.
    std::int64_t features() const {
        return projection > 0 ? projection : pool == "cls_mean" ? 2 * d_model : d_model;
    }
    /// Whether the answers are chances of each text alone, which need not add up to 1 (SigLIP).
    bool answersEach() const { return answer == "texts" && logit_bias; }
    /// The classes, or without any the width of the features, which are the answer then.
    std::int64_t outputs() const { return num_classes > 0 ? num_classes : features(); }
    bool operator==(const PublicImageOptions&) const = default;
};

/// Whether the answer of a model are numbers, not scores of classes or tokens: models that predict
/// vectors, and models of images without a classifier, whose answer are features.
bool answersNumbers(const ModelOptions& options);

/// Whether a model is one of images whose file has no classifier: its answer are features unless it
/// is given a head.
bool takesHead(const ModelOptions& options);
/// Whether answers are chances of each class alone, which need not add up to 1.
bool answersEach(const ModelOptions& options);

/// Why a model has no relations: "a GPT-2 has no relational heads; sensory heads are in all 12
/// layers"; empty for models of other kinds.
std::string noRelationsText(const ModelOptions& options);

/// Whether a model reads tokens in both directions, so that it has no next token.
bool readsBothWays(const ModelOptions& options);
/// Why such a model writes no text: "a BERT reads in both directions and writes no text; put [MASK]
/// into a text to see what it expects there"; empty for other models.
std::string noNextTokenText(const ModelOptions& options);
/// Throws OptionError("model", ...) for such a model; `what` names what needs a next token: "A
/// Duel".
void requireNextToken(const ModelOptions& options, const std::string& what);
/// Why a model cannot be trained further here; empty where it can.
std::string noTrainingText(const ModelOptions& options);

/// The size of the vocabulary if it tells the tokenizer: in the papers' models 50257 and 50304 mean
/// GPT-2's. 0 for models of public families.
std::int64_t knownVocabulary(const ModelOptions& options);

/// The fields of groups that decoders of public families share.
FieldTable<DocumentOptions> documentFields();
FieldTable<OutputLayer> outputLayerFields();
/// The fields of decoders, for options that have more; `families`: whose names can be chosen.
FieldTable<PublicDecoderOptions> publicDecoderFields(const std::vector<struct Family>& families);
/// The problems, tensors and parts of decoders, which encoders have as well.
void publicDecoderProblems(const PublicDecoderOptions& options, class ProblemList& list);
void publicDecoderShapes(const PublicDecoderOptions& options, class ShapeList& list);
void publicDecoderOutline(const PublicDecoderOptions& options, class OutlineBuilder& builder);
std::string publicDecoderText(const PublicDecoderOptions& options);

StackOptions stackOf(const PublicDecoderOptions& options);
StackOptions stackOf(const PublicEncoderOptions& options);
StackOptions stackOf(const PublicDualDecoderOptions& options);
StackOptions stackOf(const PublicImageOptions& options);
/// The blocks of its text tower.
StackOptions textStackOf(const PublicImageOptions& options);

}  // namespace relascope::core
