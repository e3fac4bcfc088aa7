// SPDX-License-Identifier: GPL-3.0-or-later
// Typed texts as inputs for the inspector.
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
/// The same for given tokens.
ProbeSample tokenSample(const core::Tokenizer* tokenizer, std::vector<std::int64_t> tokens,
                        const std::string& origin);
/// The first tokens of a sample; an image stays as it is.
void shorten(ProbeSample& sample, std::int64_t longest);

/// The beginning of a text file, as much as a model can read. Throws FileError if it is not text.
std::string beginningOfText(const std::string& path);

/// The likeliest next tokens of a probe of a text.
std::vector<TokenChoice> nextTokens(const ProbeResult& result);
/// The probabilities of the same tokens in a result without edits; empty without such a result.
std::vector<float> nextTokensBefore(const ProbeResult& result, const ProbeResult* before);

}  // namespace relascope::app
