// SPDX-License-Identifier: GPL-3.0-or-later
// Text generation with a language model, its tokenizer and a sampler.
#pragma once

#include <string>

#include "model/decode/generate.h"
#include "text/tokenizer.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Continues `prompt` with a model in eval mode. Without a prompt the text begins after the token
/// that separates documents. Throws OptionError if the tokenizer does not match the model, or if
/// the prompt is empty and there is no such token.
TextEnd continueText(ModelImpl& model, const ModelOptions& modelOptions, const Tokenizer& tokenizer,
                     const std::string& prompt, const GenerateOptions& options,
                     const TokenSink& sink);

/// A text as input of the inspector: token ids and their pieces. At most `longest` tokens are used.
/// Throws OptionError if there is no token.
ProbeSample textSample(const Tokenizer& tokenizer, const std::string& text, std::int64_t longest,
                       const std::string& origin);

/// Replaces the ids of the most likely next tokens of a probe by their pieces.
void namePieces(ProbeResult& result, const Tokenizer& tokenizer);

}  // namespace relascope::core
