// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/text_input.h"

#include <algorithm>
#include <fstream>

#include "files/memory.h"
#include "probe/probe_memory.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::app {

std::int64_t longestLook(const ModelOptions& model) {
    return core::longestProbe(model, core::probeBudget());
}

TypedText typedText(const core::Tokenizer& tokenizer, const std::string& text,
                    const ModelOptions& model) {
    const auto ids = tokenizer.encode(text);
    if (ids.empty()) throw OptionError("text", "is empty; enter a text to inspect");
    TypedText typed;
    const auto count = static_cast<std::int64_t>(ids.size());
    const std::uint64_t budget = core::probeBudget();
    const std::int64_t longest = core::longestProbe(model, budget);
    std::vector<std::int64_t> kept(ids.begin(), ids.begin() + std::min(count, longest));
    if (count > model.tokens())
        typed.note = std::to_string(count) + " tokens: the model's context is " +
                     std::to_string(model.tokens()) + "; ";
    if (longest < std::min(count, model.tokens()))
        typed.note += "the maps of " + std::to_string(std::min(count, model.tokens())) +
                      " tokens need " +
                      core::byteText(core::probeBytes(model, std::min(count, model.tokens()))) +
                      ", " + core::byteText(budget) + " are free; ";
    if (count > longest) typed.note += "the first " + std::to_string(longest) + " are shown";
    typed.sample = tokenSample(&tokenizer, std::move(kept), kTyped);
    return typed;
}

ProbeSample tokenSample(const core::Tokenizer* tokenizer, std::vector<std::int64_t> tokens,
                        const std::string& origin) {
    ProbeSample sample;
    sample.origin = origin;
    sample.source.text = tokenizer != nullptr;
    if (tokenizer)
        for (const auto id : tokens)
            sample.source.labels.push_back(
                id >= 0 && id < tokenizer->size()
                    ? std::string(tokenizer->piece(static_cast<std::int32_t>(id)))
                    : std::to_string(id));
    sample.source.tokens = std::move(tokens);
    return sample;
}

void shorten(ProbeSample& sample, std::int64_t longest) {
    const auto most = static_cast<std::size_t>(longest);
    if (sample.source.tokens.size() <= most) return;
    sample.source.tokens.resize(most);
    if (sample.source.labels.size() > most) sample.source.labels.resize(most);
}

std::string beginningOfText(const std::string& path) {
    constexpr std::size_t most = 64 * 1024;
    std::ifstream file(path, std::ios::binary);
    std::string bytes(most, ' ');
    if (file) file.read(bytes.data(), static_cast<std::streamsize>(most));
    if (file.bad() || (!file && !file.eof())) throw FileError(path, "cannot be read");
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    if (bytes.find('\0') != std::string::npos)
        throw FileError(path, "is not a text file; choose a UTF-8 text");
    return validUtf8(bytes);
}

std::vector<TokenChoice> nextTokens(const ProbeResult& result) {
    std::vector<TokenChoice> choices;
    if (!result.sample.source.text) return choices;
    const std::size_t count =
        std::min<std::size_t>({result.probabilities.size(), result.classNames.size(), 6});
    for (std::size_t k = 0; k < count; ++k)
        choices.push_back({static_cast<std::int64_t>(k), result.classNames[k],
                           static_cast<double>(result.probabilities[k])});
    return choices;
}

std::vector<float> nextTokensBefore(const ProbeResult& result, const ProbeResult* before) {
    std::vector<float> probabilities;
    if (!before) return probabilities;
    for (const TokenChoice& choice : nextTokens(result)) {
        const auto& names = before->classNames;
        const auto found = std::find(names.begin(), names.end(), choice.piece);
        const auto at = static_cast<std::size_t>(found - names.begin());
        // A token that is not among the likeliest has a smaller probability than these.
        probabilities.push_back(at < before->probabilities.size() ? before->probabilities[at]
                                                                  : 0.0F);
    }
    return probabilities;
}

}  // namespace relascope::app
