// SPDX-License-Identifier: GPL-3.0-or-later
// Text generation with a language model, its tokenizer and a sampler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/decode/generate.h"
#include "text/tokenizer.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Continues `prompt` with a model in eval mode, which first reads promptTokens(). Throws
/// OptionError if the tokenizer does not match the model, and as promptTokens().
TextEnd continueText(ModelImpl& model, const ModelOptions& modelOptions, const Tokenizer& tokenizer,
                     const std::string& prompt, const GenerateOptions& options,
                     const TokenSink& sink);

/// continueText() from token ids, for models with or without (null) a tokenizer; `ends` are the
/// tokens that end the text. For a model of a public family (architecture.h, `opened`) no row of
/// the vocabulary is left out.
TextEnd continueTokens(ModelImpl& model, const ModelOptions& modelOptions,
                       const Tokenizer* tokenizer, std::vector<std::int64_t> prompt,
                       const std::vector<std::int64_t>& ends, const GenerateOptions& options,
                       const TokenSink& sink);

/// The ids in a text that is typed for a model without a tokenizer, such as "12 7, 3". Throws
/// OptionError (`option`) for anything else.
std::vector<std::int64_t> typedIds(const std::string& text, const ModelOptions& options,
                                   const std::string& option);

/// The tokens that a language model reads before it chooses the first one: the tokens of the
/// prompt, or for an empty prompt the token that separates documents. Throws OptionError if there
/// is none.
std::vector<std::int64_t> promptTokens(const Tokenizer& tokenizer, const std::string& prompt);

/// promptTokens() as an input, at most `longest` of them. Throws as promptTokens().
ProbeSample promptSample(const Tokenizer& tokenizer, const std::string& prompt,
                         std::int64_t longest);

/// The tokenizer of a model. Throws OptionError if the model is no language model, or if its
/// tokenizer is unknown (null).
const Tokenizer& requireTokenizer(const TokenizerPtr& tokenizer, const ModelOptions& options);

/// A text as input of the inspector: token ids and their pieces. At most `longest` tokens are used.
/// Throws OptionError if there is no token.
ProbeSample textSample(const Tokenizer& tokenizer, const std::string& text, std::int64_t longest,
                       const std::string& origin);

/// Replaces the ids of the most likely next tokens of a probe by their pieces.
void namePieces(ProbeResult& result, const Tokenizer& tokenizer);

}  // namespace relascope::core
