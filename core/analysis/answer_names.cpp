// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>

#include "analysis/answer_names.h"
#include "probe/layers.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

// The number that is all of `text`, or -1.
std::int64_t numberOf(std::string_view text) {
    std::int64_t number = -1;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc() && read.ptr == end && number >= 0 ? number : -1;
}

}  // namespace

AnswerNames::AnswerNames(const ModelOptions& options, TokenizerPtr tokenizer,
                         std::vector<std::string> classNames, const ProbeSample& sample)
    : m_size(options.outputs()), m_tokenizer(std::move(tokenizer)) {
    if (m_size == 1) {  // a single score answers yes or no
        m_size = 2;
        if (classNames.size() != 2) classNames = {"no", "yes"};
    }
    if (options.input() == InputKind::Pairs) {
        const auto take = [&](const ProbeSequence& sequence, const std::vector<std::string>& as) {
            for (std::size_t i = 0; i < std::min(sequence.tokens.size(), as.size()); ++i)
                if (i < sequence.labels.size() && !as[i].empty())  // padding has none
                    m_names.emplace(sequence.tokens[i], as[i]);
        };
        const auto sides = probeSides(options, sample);
        take(sample.target, sides[1].labels);
        // Question and answer of a text are written in one alphabet.
        if (sample.source.text && sample.target.text) take(sample.source, sides[0].labels);
    }
    if (static_cast<std::int64_t>(classNames.size()) <= m_size)
        for (std::size_t i = 0; i < classNames.size(); ++i)
            m_names[static_cast<std::int64_t>(i)] = classNames[i];
}

std::string AnswerNames::of(std::int64_t id) const {
    if (const auto named = m_names.find(id); named != m_names.end()) return named->second;
    if (m_tokenizer && id < m_tokenizer->size())
        return pieceText(m_tokenizer->piece(static_cast<std::int32_t>(id))).text;
    // Among names a number alone could be one.
    return (m_names.empty() && !m_tokenizer ? "" : "id:") + std::to_string(id);
}

std::int64_t AnswerNames::find(const std::string& word, const std::string& option) const {
    std::vector<std::string> known;
    for (const auto& [id, name] : m_names) {
        if (name == word) return id;
        known.push_back(name);
    }
    const bool isId = word.starts_with("id:");
    std::size_t tokens = 0;
    if (m_tokenizer && !isId) {
        const auto ids = m_tokenizer->encode(word);
        if (ids.size() == 1 && ids[0] < m_size && m_tokenizer->decode(ids) == word) return ids[0];
        tokens = ids.size();
        // A token as this program writes it: "\n", or bytes that are no character.
        for (std::int32_t id = 0; id < std::min(m_size, m_tokenizer->size()); ++id)
            if (pieceText(m_tokenizer->piece(id)).text == word) return id;
    }
    const auto number = numberOf(isId ? std::string_view(word).substr(3) : std::string_view(word));
    const std::string range = "0 to " + std::to_string(m_size - 1);
    if (number >= 0 && number < m_size) return number;
    if (number >= 0)
        throw OptionError(option, "there is no answer " + std::to_string(number) +
                                      ": the model has " + std::to_string(m_size) + ", " + range);
    if (tokens > 1)
        throw OptionError(option, "'" + word + "' is " + std::to_string(tokens) +
                                      " tokens; give the text of one token, or its id as id:N");
    if (m_tokenizer || known.empty())
        throw OptionError(option, "unknown answer '" + word + "'; give " +
                                      (m_tokenizer ? "the text of one token, or its id as id:N"
                                                   : "a number from " + range));
    throw OptionError(option, unknownName("answer", word, known));
}

std::vector<std::string> answeredInputs(const ModelOptions& options, const ProbeSample& sample,
                                        const TokenizerPtr& tokenizer) {
    if (options.input() == InputKind::Pairs) return probeSides(options, sample)[1].labels;
    if (options.input() != InputKind::Tokens) return {};
    auto labels = probeSides(options, sample)[0].labels;
    if (tokenizer && sample.source.labels.empty())
        for (std::size_t i = 0; i < sample.source.tokens.size(); ++i)
            if (sample.source.tokens[i] < tokenizer->size())
                labels[i] =
                    pieceText(tokenizer->piece(static_cast<std::int32_t>(sample.source.tokens[i])))
                        .text;
    return labels;
}

}  // namespace relascope::core
