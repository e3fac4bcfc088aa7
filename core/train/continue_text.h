// Text in, text out: a language model, its tokenizer and a sampler.
#pragma once

#include <functional>
#include <string>

#include "model/generate.h"
#include "text/tokenizer.h"
#include "types/relation_map.h"

namespace relascope {

/// Receives each token as it comes, pieces filled in; returns false to stop.
using TokenSink = std::function<bool(const GeneratedToken&)>;

/// Why a text ended.
enum class TextEnd { Length, StopText, EndOfText, Stopped };

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

}  // namespace relascope
