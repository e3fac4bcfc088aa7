// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <utility>

#include "data/continue_text.h"
#include "data/text_tokens.h"
#include "model/architecture.h"
#include "model/public/family.h"
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
    const auto ids = tokenizer.encodeTyped(text);
    return {ids.begin(), ids.end()};
}

}  // namespace

const Tokenizer& requireTokenizer(const TokenizerPtr& tokenizer, const ModelOptions& options) {
    if (options.input() != InputKind::Tokens)
        throw OptionError("text", "is for language models only; this is a " + modelTitle(options));
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
    std::vector<std::int64_t> ends;
    if (const auto separator = tokenizer.endOfText()) ends = {*separator};
    return continueTokens(model, modelOptions, &tokenizer, promptTokens(tokenizer, prompt), ends,
                          options, sink);
}

std::vector<std::int64_t> typedIds(const std::string& text, const ModelOptions& options,
                                   const std::string& option) {
    std::vector<std::int64_t> ids;
    const char *at = text.data(), *end = text.data() + text.size();
    while (at != end) {
        if (*at == ' ' || *at == ',' || *at == '\n' || *at == '\t') {
            ++at;
            continue;
        }
        std::int64_t id = -1;
        const auto [rest, error] = std::from_chars(at, end, id);
        if (error != std::errc() || id < 0 || id >= options.outputs())
            throw OptionError(option,
                              "this model has no tokenizer that can be read; type token ids from 0 "
                              "to " +
                                  std::to_string(options.outputs() - 1) +
                                  ", such as 12 7 3, or give a tokenizer.json");
        ids.push_back(id);
        at = rest;
    }
    if (ids.empty()) throw OptionError(option, "is empty; type the ids of tokens");
    return ids;
}

TextEnd continueTokens(ModelImpl& model, const ModelOptions& modelOptions,
                       const Tokenizer* tokenizer, std::vector<std::int64_t> prompt,
                       const std::vector<std::int64_t>& ends, const GenerateOptions& options,
                       const TokenSink& sink) {
    if (tokenizer) {
        requireVocabulary(*tokenizer, modelOptions.outputs());
        for (const auto id : prompt)
            if (id >= modelOptions.outputs() && id < tokenizer->size())
                throw OptionError(
                    "prompt", outsideVocabulary(id, tokenizer->piece(static_cast<std::int32_t>(id)),
                                                modelOptions.outputs()) +
                                  "; leave it out");
    }
    TokenSampler sampler(options);
    auto next = std::move(prompt);
    const auto pieces = tokenizer ? tokenizer->size() : std::int64_t{0};
    const bool every = modelOptions.info().opened || !tokenizer;

    LanguageReader reader(model, modelOptions);
    std::string tail;  // the end of the generated text, as long as the stop text
    for (std::int64_t i = 0; i < options.tokens; ++i) {
        auto logits = reader.read(next);
        // Rows of the vocabulary without text in the tokenizer are never generated.
        if (!every && logits.size(0) > pieces) logits = logits.slice(0, 0, pieces);
        auto token = sampler.sample(logits.contiguous());
        const auto last = next.back();
        const auto before = static_cast<std::int32_t>(last < pieces ? last : 0);
        const auto fill = [&](TokenChoice& choice) {
            if (choice.id < pieces)
                choice.piece = tokenizer->pieceAfter(static_cast<std::int32_t>(choice.id), before);
            else
                choice.piece = "[" + std::to_string(choice.id) + "]";
        };
        fill(token.chosen);
        for (auto& other : token.alternatives) fill(other);
        if (!sink(token)) return TextEnd::Stopped;
        if (std::find(ends.begin(), ends.end(), token.chosen.id) != ends.end())
            return TextEnd::EndOfText;
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
