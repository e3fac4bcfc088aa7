// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/math/question_data.h"

#include <algorithm>
#include <stdexcept>

#include "datasets/generators/math/symbols.h"

namespace relascope::datasets::mathematics {
namespace {

constexpr std::size_t kSource = kMostQuestion + 1, kTarget = kMostAnswer + 1;

void writeTokens(const std::string& text, std::span<std::int64_t> out) {
    auto at = std::transform(text.begin(), text.end(), out.begin(), tokenOf);
    *at++ = kEnd;
    std::fill(at, out.end(), kPadding);
}

const char* nameOf(Side side) {
    return side == Side::Train ? "train" : side == Side::Validation ? "validation" : "interpolate";
}

}  // namespace

QuestionData::QuestionData(const std::string& module, const std::string& part,
                           const std::string& origin, std::int64_t size)
    : m_part(part) {
    m_info.task = module;
    m_info.name = module + ", " + part;
    m_info.origin = origin;
    m_info.size = size;
    m_info.channels = m_info.height = m_info.width = 0;
    m_info.targets = TargetKind::Tokens;
}

void QuestionData::requireIndex(std::int64_t index) const {
    if (index < 0 || index >= m_info.size)
        throw std::out_of_range(m_info.name + " has no question " + std::to_string(index));
}

core::SequenceDataset::Shape QuestionData::shape() const {
    Shape s;
    s.source = kSource;
    s.target = kTarget;
    s.sourceVocabulary = s.targetVocabulary = kVocabulary;
    s.start = kStart;
    s.end = kEnd;
    s.padding = kPadding;
    return s;
}

void QuestionData::read(std::int64_t index, std::span<float>, std::span<std::int64_t> tokens,
                        std::span<std::int64_t> answer) const {
    const auto p = problem(index);
    writeTokens(p.question, tokens);
    writeTokens(p.answer, answer);
}

ProbeSample QuestionData::sample(std::int64_t index) const {
    const auto p = problem(index);
    ProbeSample s;
    s.origin = m_part + " " + std::to_string(index);
    s.source.text = s.target.text = true;
    s.source.tokens.resize(kSource);
    writeTokens(p.question, s.source.tokens);
    for (const char c : p.question + ';') s.source.labels.emplace_back(1, c);
    s.source.labels.resize(kSource);
    for (const char c : '@' + p.answer) {
        s.target.tokens.push_back(tokenOf(c));
        s.target.labels.emplace_back(1, c);
    }
    return s;
}

Side sideOf(const std::string& question) {
    // FNV-1a, then mixed: its low bits alone would follow the last character.
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : question) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    const auto eighth = SplitMix(hash, 0).next() >> 61;
    return eighth == 0 ? Side::Interpolate : eighth == 1 ? Side::Validation : Side::Train;
}

GeneratedQuestions::GeneratedQuestions(std::string module, Side side, std::uint64_t seed,
                                       std::int64_t size)
    : QuestionData(module, nameOf(side), "generated, seed " + std::to_string(seed), size),
      m_module(std::move(module)),
      m_side(side),
      m_seed(seed) {
    m_info.note = "There is no extrapolation split for this module.";
}

Problem GeneratedQuestions::problem(std::int64_t index) const {
    requireIndex(index);
    static constexpr Entropies levels[] = {kEasy, kMedium, kHard};
    const Entropies& entropies = m_side == Side::Interpolate ? kInterpolate : levels[index % 3];
    SplitMix random(m_seed * 4 + static_cast<std::uint64_t>(m_side),
                    static_cast<std::uint64_t>(index));
    for (;;) {
        auto p = makeProblem(m_module, entropies, SplitMix(random.next(), 0));
        if (sideOf(p.question) == m_side) return p;
    }
}

}  // namespace relascope::datasets::mathematics
