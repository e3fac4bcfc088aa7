// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "datasets/generators/math/entities.h"
#include "datasets/generators/math/problem.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::datasets::mathematics {
namespace {

Problem linearEquation(Draws& draws, double entropy) {
    const double ofSolution = std::max(1.0, entropy / 4.0);
    const auto solution = draws.integer(ofSolution);
    Entities entities(draws);
    const auto unknown = entities.letter();
    const auto system =
        linearSystem(draws, {unknown}, {solution}, std::max(1.0, entropy - ofSolution));
    return {"Solve " + system[0].text() + " for " + unknown + '.', std::to_string(solution)};
}

Problem nextTerm(Draws& draws, double entropy) {
    const int degree = draws.between(1, 3);
    const auto entropies = draws.dirichlet(entropy, degree + 1);
    std::vector<std::int64_t> coefficients;
    for (int power = 0; power <= degree; ++power) {
        // Scaled so that all powers weigh about the same in the terms that are shown.
        const double scale = 0.5 * (degree - 2 * power) * std::log10(degree + 2.0);
        coefficients.push_back(draws.integer(entropies[static_cast<std::size_t>(power)] + scale,
                                             true, power == degree ? 1 : 0));
    }
    const auto term = [&](std::int64_t n) {
        std::int64_t value = 0;
        for (std::size_t i = coefficients.size(); i-- > 0;)
            value = plus(times(value, n), coefficients[i]);
        return std::to_string(value);
    };
    const int count = draws.between(degree + 2, degree + 5);
    std::string terms = term(1);
    for (int n = 2; n <= count; ++n) terms += ", " + term(n);
    const std::string questions[] = {"What is next in " + terms + '?',
                                     "What comes next: " + terms + '?',
                                     "What is the next term in " + terms + '?'};
    return {questions[draws.between(0, 2)], term(count + 1)};
}

Problem differentiation(Draws& draws, double entropy) {
    const int variables = draws.between(1, 4), order = draws.between(1, 3),
              axis = draws.between(0, variables - 1);
    entropy = std::max(0.0, entropy - std::log10(3.0));
    std::vector<int> degrees;
    for (int i = 0; i < variables; ++i)
        degrees.push_back(i == axis ? draws.between(0, 3) : draws.between(1, 3));
    const auto kept = randomPolynomial(draws, degrees, entropy);
    degrees[static_cast<std::size_t>(axis)] = order - 1;
    const auto lost = randomPolynomial(draws, degrees, entropy);

    // Powers below the order are lost in the derivative; from it on they are kept.
    auto shape = kept.shape;
    shape[static_cast<std::size_t>(axis)] += order;
    Polynomial p(shape);
    for (const auto& [part, shift] : {std::pair{&lost, 0}, {&kept, order}})
        for (std::size_t i = 0; i < part->values.size(); ++i) {
            if (part->values[i] == Rational(0)) continue;
            auto powers = part->powers(i);
            powers[static_cast<std::size_t>(axis)] += shift;
            p.values[p.index(powers)] = part->values[i];
        }
    auto derived = p;
    for (int i = 0; i < order; ++i) derived = derivative(derived, axis);

    Entities entities(draws);
    std::vector<std::string> letters;
    for (int i = 0; i < variables; ++i) letters.push_back(entities.letter());
    const std::string text = textOf(p, letters), nth = ordinalWord(order),
                      letter = letters[static_cast<std::size_t>(axis)];
    std::vector<std::string> questions = {
        "Find the " + nth + " derivative of " + text + " wrt " + letter + '.',
        "What is the " + nth + " derivative of " + text + " wrt " + letter + '?'};
    if (order == 1) {
        questions.push_back("Differentiate " + text + " with respect to " + letter + '.');
        questions.push_back("Differentiate " + text + " wrt " + letter + '.');
        questions.push_back("What is the derivative of " + text + " wrt " + letter + '?');
    }
    if (variables == 1) {
        questions.push_back("Find the " + nth + " derivative of " + text + '.');
        questions.push_back("What is the " + nth + " derivative of " + text + '?');
    }
    if (variables == 1 && order == 1) {
        questions.push_back("Differentiate " + text + '.');
        questions.push_back("What is the derivative of " + text + '?');
    }
    return {draws.oneOf(questions), textOf(derived, letters)};
}

Problem addition(Draws& draws, double entropy) {
    SampleArgs args{draws.between(1, 4), entropy};
    const double own = args.peel() - std::log10(3.0);
    const int degree = draws.between(1, 3), terms = draws.between(1, 3);
    const auto p = randomPolynomial(draws, {degree}, own / 2.0, terms);
    Entities entities(draws);
    const auto sum = entities.splitSum(p, own / 2.0, args);
    const std::string questions[] = {"What is " + sum.text + '?', "Calculate " + sum.text + '.',
                                     "Give " + sum.text + '.', "Determine " + sum.text + '.'};
    return {joined(sum.premises, questions[draws.between(0, 3)]), textOf(p, {sum.variable})};
}

// A polynomial with brackets: its text and its coefficients.
struct Bracketed {
    Expression text;
    Polynomial value;
};

class Brackets {
public:
    Brackets(Draws& draws, std::string variable)
        : m_draws(draws), m_variable(std::move(variable)) {}

    // An expression of exactly that degree with about `length` terms; `force`: with brackets.
    Bracketed make(int degree, double entropy, int length, bool force) {
        if (force) length = std::max(2, length);
        if (!force && (m_draws.coin() || length < 2)) return flat(degree, entropy, length);
        const int left = m_draws.between(1, length - 1), right = length - left;
        const auto entropies = m_draws.dirichlet(entropy, {left, right});
        return m_draws.coin() ? added(degree, left, right, entropies)
                              : multiplied(degree, left, right, entropies);
    }

private:
    Bracketed flat(int degree, double entropy, int length) {
        const auto p = randomPolynomial(m_draws, {degree}, entropy / 2.0, 0, length);
        return {scattered(m_draws, spread(m_draws, p, entropy / 2.0, length), m_variable), p};
    }

    Bracketed added(int degree, int left, int right, const std::vector<double>& entropies) {
        // Repeats until the highest powers do not cancel.
        for (int tries = 0; tries < 100; ++tries) {
            auto a = make(degree, entropies[0], left, true),
                 b = make(degree, entropies[1], right, false);
            if (m_draws.coin()) std::swap(a, b);
            auto value = a.value + b.value;
            if (degreeOf(value) != degree) continue;
            return {Expression::sum({std::move(a.text), std::move(b.text)}), std::move(value)};
        }
        throw Outgrown();
    }

    Bracketed multiplied(int degree, int left, int right, const std::vector<double>& entropies) {
        const int ofLeft = degree <= 1 || m_draws.coin() ? m_draws.between(0, degree)
                                                         : m_draws.between(1, degree - 1);
        auto a = factor(ofLeft, entropies[0], left),
             b = factor(degree - ofLeft, entropies[1], right);
        auto value = a.value * b.value;
        return {Expression::product({std::move(a.text), std::move(b.text)}), std::move(value)};
    }

    Bracketed factor(int degree, double entropy, int length) {
        for (int tries = 0; tries < 100; ++tries) {
            auto made = make(degree, entropy, length, false);
            if (!made.value.isZero()) return made;
        }
        throw Outgrown();
    }

    Draws& m_draws;
    std::string m_variable;
};

Problem expansion(Draws& draws, double entropy) {
    const int degree = draws.between(1, 5);
    entropy -= std::log10(5.0);
    const int length = 3 + draws.between(0, static_cast<int>(entropy / 2.0));
    Entities entities(draws);
    const auto variable = entities.letter();
    const auto made =
        Brackets(draws, variable).make(degree, entropy + treeEntropy(length), length, true);
    return {"Expand " + made.text.text() + '.', textOf(made.value, {variable})};
}

}  // namespace

Problem makeProblem(const std::string& module, const Entropies& entropies, SplitMix random) {
    static const std::map<std::string, Problem (*)(Draws&, double)> modules = {
        {"algebra__linear_1d", linearEquation},
        {"algebra__sequence_next_term", nextTerm},
        {"calculus__differentiate", differentiation},
        {"polynomials__add", addition},
        {"polynomials__expand", expansion}};
    const auto made = modules.find(module);
    if (made == modules.end()) {
        std::vector<std::string> names;
        for (const auto& [name, make] : modules) names.push_back(name);
        throw OptionError("data.task", unknownName("mathematics module", module, names));
    }
    const auto make = made->second;
    Draws draws(random);
    for (;;) {
        try {
            const auto problem = make(draws, draws.uniform(entropies.least, entropies.most));
            if (problem.question.size() <= kMostQuestion && problem.answer.size() <= kMostAnswer)
                return problem;
        } catch (const Outgrown&) {
            // Rare; the next draw is as good.
        }
    }
}

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
