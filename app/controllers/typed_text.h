// SPDX-License-Identifier: GPL-3.0-or-later
// Typed texts as inputs of the inspector, and the tokens that a model expects after them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "types/generate_options.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::app {

inline constexpr const char* kTyped = "typed text";  ///< ProbeSample::origin of a typed text

/// Maximum number of tokens to inspect: the context of the model, or as many as fit into the free
/// memory (the size of maps is quadratic in the length).
std::int64_t longestLook(const ModelOptions& model);

struct TypedText {
    ProbeSample sample;
    std::string note;  ///< a message if the text was shortened, otherwise empty
};
/// The first tokens of a text, as many as longestLook() allows. Throws OptionError for an empty
/// text.
TypedText typedText(const core::Tokenizer& tokenizer, const std::string& text,
                    const ModelOptions& model);

/// The beginning of a text file, as much as a model can read. Throws FileError if it is not text.
std::string beginningOfText(const std::string& path);

/// Whether the input is one text.
bool isOneText(const ProbeSample& sample);
/// The likeliest next tokens after a text in `result` or in `other`, which may be null.
std::vector<TokenChoice> nextTokens(const ProbeResult& result, const ProbeResult* other);
/// The probabilities of `choices` in `other`; empty if `other` is null.
std::vector<float> nextTokensBefore(const std::vector<TokenChoice>& choices,
                                    const ProbeResult* other);

}  // namespace relascope::app
