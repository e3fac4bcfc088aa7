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

struct PublicImageOptions : VisionTransformerOptions, BlockDetails, FamilyName {
    std::int64_t first_tokens = 1;  ///< the class token, and one for distillation
    bool two_classifiers = false;   ///< for the first two tokens; the answer is their mean
    /// How pictures become images of the model (options/image_processor.h); empty: the model gets
    /// pixels as they are, without mean and deviation.
    std::string preprocessor;

    /// The number of first tokens and patches.
    std::int64_t tokens() const { return patches() + first_tokens; }
    bool operator==(const PublicImageOptions&) const = default;
};

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

}  // namespace relascope::core
