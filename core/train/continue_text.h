// SPDX-License-Identifier: GPL-3.0-or-later
// Text in, text out: a language model, its tokenizer and a sampler.
#pragma once

#include <string>

#include "model/decode/generate.h"
#include "text/tokenizer.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Continues `prompt` with a model in eval mode. Without a prompt the text begins after the token
/// that separates documents. Throws OptionError when the tokenizer and the model do not fit, or for
/// an empty prompt where there is no such token.
TextEnd continueText(ModelImpl& model, const ModelOptions& modelOptions, const Tokenizer& tokenizer,
                     const std::string& prompt, const GenerateOptions& options,
                     const TokenSink& sink);

/// A text as the inspector shows it: ids, and the pieces they stand for. At most `longest` tokens,
/// the rest left out. Throws OptionError when there is no token.
ProbeSample textSample(const Tokenizer& tokenizer, const std::string& text, std::int64_t longest,
                       const std::string& origin);

/// Names the likeliest next tokens of a probe by their pieces in place of their ids.
void namePieces(ProbeResult& result, const Tokenizer& tokenizer);

}  // namespace relascope::core
