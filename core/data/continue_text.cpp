// SPDX-License-Identifier: GPL-3.0-or-later
#include <charconv>
#include <utility>

#include "data/continue_text.h"
#include "data/text_tokens.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

ProbeSample sampleOf(const Tokenizer& tokenizer, std::vector<std::int64_t> tokens,
                     std::int64_t longest, const std::string& origin) {
    if (static_cast<std::int64_t>(tokens.size()) > longest)
        tokens.resize(static_cast<std::size_t>(longest));
    return tokenSample(&tokenizer, std::move(tokens), origin);
}

std::vector<std::int64_t> tokensOf(const Tokenizer& tokenizer, const std::string& text) {
    const auto ids = tokenizer.encode(text);
    return {ids.begin(), ids.end()};
}

}  // namespace

const Tokenizer& requireTokenizer(const TokenizerPtr& tokenizer, const ModelOptions& options) {
    if (options.input() != InputKind::Tokens)
        throw OptionError("text",
                          "is for language models only; this is a " + options.architecture());
    if (!tokenizer)
        throw OptionError(
            "tokenizer", "no tokenizer was found next to the checkpoint, and the vocabulary size " +
                             std::to_string(options.outputs()) +
                             " is not GPT-2's 50257; give its tokenizer.json or vocab.json");
    return *tokenizer;
}

std::vector<std::int64_t> promptTokens(const Tokenizer& tokenizer, const std::string& prompt) {
    auto tokens = tokensOf(tokenizer, prompt);
    if (!tokens.empty()) return tokens;
    const auto separator = tokenizer.endOfText();
    if (!separator)
        throw OptionError("prompt", "is empty; type some text for the model to continue");
    return {*separator};
}

ProbeSample promptSample(const Tokenizer& tokenizer, const std::string& prompt,
                         std::int64_t longest) {
    return sampleOf(tokenizer, promptTokens(tokenizer, prompt), longest, "prompt");
}

TextEnd continueText(ModelImpl& model, const ModelOptions& modelOptions, const Tokenizer& tokenizer,
                     const std::string& prompt, const GenerateOptions& options,
                     const TokenSink& sink) {
    requireVocabulary(tokenizer, modelOptions.outputs());
    TokenSampler sampler(options);
    auto next = promptTokens(tokenizer, prompt);
    const auto separator = tokenizer.endOfText();

    LanguageReader reader(model, modelOptions);
    std::string tail;  // the end of the generated text, as long as the stop text
    for (std::int64_t i = 0; i < options.tokens; ++i) {
        auto logits = reader.read(next);
        // Rows of the vocabulary without text in the tokenizer are never generated.
        if (logits.size(0) > tokenizer.size()) logits = logits.slice(0, 0, tokenizer.size());
        auto token = sampler.sample(logits.contiguous());
        const auto fill = [&](TokenChoice& choice) {
            choice.piece = tokenizer.piece(static_cast<std::int32_t>(choice.id));
        };
        fill(token.chosen);
        for (auto& other : token.alternatives) fill(other);
        if (!sink(token)) return TextEnd::Stopped;
        if (separator && token.chosen.id == *separator) return TextEnd::EndOfText;
        if (!options.stop.empty()) {
            tail += token.chosen.piece;
            if (tail.find(options.stop) != std::string::npos) return TextEnd::StopText;
            if (tail.size() > 2 * options.stop.size() + 256)
                tail.erase(0, tail.size() - options.stop.size());
        }
        next = {token.chosen.id};
    }
    return TextEnd::Length;
}

ProbeSample textSample(const Tokenizer& tokenizer, const std::string& text, std::int64_t longest,
                       const std::string& origin) {
    auto tokens = tokensOf(tokenizer, text);
    if (tokens.empty()) throw OptionError("text", "is empty; type some text to inspect");
    return sampleOf(tokenizer, std::move(tokens), longest, origin);
}

void namePieces(ProbeResult& result, const Tokenizer& tokenizer) {
    for (auto& name : result.classNames) {
        std::int32_t id = -1;
        std::from_chars(name.data(), name.data() + name.size(), id);
        if (id >= 0 && id < tokenizer.size()) name = pieceText(tokenizer.piece(id)).text;
    }
}

}  // namespace relascope::core
