// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that somebody typed, as the inspector looks at them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "types/generate_options.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::app {

inline constexpr const char* kTyped = "typed text";  ///< ProbeSample::origin of one's own text

/// The most tokens that can be looked at: the model's context, or what fits into the memory that is
/// free now (maps grow with the square of the length).
std::int64_t longestLook(const ModelOptions& model);

struct TypedText {
    ProbeSample sample;
    std::string note;  ///< that it was shortened, in words; else empty
};
/// The first tokens of a text, as many as longestLook() allows. Throws OptionError when there is
/// none.
TypedText typedText(const core::Tokenizer& tokenizer, const std::string& text,
                    const ModelOptions& model);
/// Tokens that are known already.
ProbeSample tokenSample(const core::Tokenizer* tokenizer, std::vector<std::int64_t> tokens,
                        const std::string& origin);
/// The first tokens of a sample; an image stays as it is.
void shorten(ProbeSample& sample, std::int64_t longest);

/// The beginning of a text file, as much as a model may read. Throws FileError where it is none.
std::string beginningOfText(const std::string& path);

/// The likeliest next tokens of a probe of a text.
std::vector<TokenChoice> nextTokens(const ProbeResult& result);

}  // namespace relascope::app
