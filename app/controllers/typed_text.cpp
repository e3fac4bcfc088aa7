// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/typed_text.h"

#include <algorithm>
#include <fstream>

#include "data/text_tokens.h"
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
    const auto ids = tokenizer.encodeTyped(text);
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
    typed.sample = core::tokenSample(&tokenizer, std::move(kept), kTyped);
    return typed;
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

bool isOneText(const ProbeSample& sample) {
    return sample.source.text && sample.target.size() == 0;
}

namespace {

/// The probability of a token; 0 if it is not among the likeliest of the result.
float probabilityOf(const ProbeResult& result, const std::string& piece) {
    const auto& names = result.classNames;
    const auto at =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), piece) - names.begin());
    return at < result.probabilities.size() ? result.probabilities[at] : 0.0F;
}

}  // namespace

std::vector<TokenChoice> nextTokens(const ProbeResult& result, const ProbeResult* other) {
    constexpr std::size_t most = 6;
    std::vector<TokenChoice> choices;
    if (!result.sample.source.text) return choices;
    // The likeliest tokens of both results in turn, so that neither hides those of the other.
    for (std::size_t k = 0; k < most; ++k)
        for (const ProbeResult* of : {&result, other}) {
            if (!of || k >= std::min(of->probabilities.size(), of->classNames.size())) continue;
            const auto& piece = of->classNames[k];
            const bool known = std::any_of(choices.begin(), choices.end(),
                                           [&](const auto& one) { return one.piece == piece; });
            if (known || choices.size() == most) continue;
            choices.push_back({static_cast<std::int64_t>(choices.size()), piece,
                               static_cast<double>(probabilityOf(result, piece))});
        }
    const auto larger = [&](const TokenChoice& choice) {
        return std::max(choice.probability,
                        other ? static_cast<double>(probabilityOf(*other, choice.piece)) : 0.0);
    };
    std::stable_sort(
        choices.begin(), choices.end(),
        [&](const TokenChoice& a, const TokenChoice& b) { return larger(a) > larger(b); });
    return choices;
}

std::vector<float> nextTokensBefore(const std::vector<TokenChoice>& choices,
                                    const ProbeResult* other) {
    std::vector<float> probabilities;
    if (other)
        for (const auto& choice : choices)
            probabilities.push_back(probabilityOf(*other, choice.piece));
    return probabilities;
}

}  // namespace relascope::app
