// SPDX-License-Identifier: GPL-3.0-or-later
// The mathematics questions: every answer worked out again, and their form.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "datasets/exact.h"
#include "datasets/generators/math/problem.h"
#include "datasets/registry.h"
#include "support/rooms.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

using mathematics::Entropies;
using mathematics::makeProblem;
using mathematics::Problem;
using testing_support::Exact;
using testing_support::Reader;

constexpr Entropies kLevels[] = {mathematics::kEasy, mathematics::kMedium, mathematics::kHard,
                                 mathematics::kInterpolate};

// Some problems of a module, of each difficulty and of interpolation in turn.
template <class Check>
void forProblems(const std::string& module, int count, Check&& check) {
    for (int i = 0; i < count; ++i) {
        const auto p = makeProblem(module, kLevels[i % 4], SplitMix(11, static_cast<unsigned>(i)));
        SCOPED_TRACE(p.question + " | " + p.answer);
        ASSERT_NO_THROW(check(p));
        if (testing::Test::HasFatalFailure()) return;
    }
}
std::string between(const std::string& text, const std::string& before, const std::string& after) {
    const auto from = text.find(before);
    const auto begin = from + before.size(), to = text.find(after, begin);
    if (from == std::string::npos || to == std::string::npos)
        throw std::runtime_error("no '" + before + "' .. '" + after + "'");
    return text.substr(begin, to - begin);
}

TEST(Math, LinearEquationsAreSolved) {
    std::map<std::string, int> zero;
    forProblems("algebra__linear_1d", 4000, [&](const Problem& p) {
        const auto text = between(p.question, "Solve ", " for ");
        const char unknown = p.question[p.question.size() - 2];
        ASSERT_EQ(p.question, "Solve " + text + " for " + unknown + '.');
        const auto equals = text.find(" = ");
        const auto difference = Reader().expression(text.substr(0, equals)) -
                                Reader().expression(text.substr(equals + 3));
        const auto solution = Reader().expression(p.answer);
        ASSERT_EQ(difference.with(unknown, solution), Exact());
        const auto other = solution + Exact::number(1);
        ASSERT_FALSE(difference.with(unknown, other) == Exact()) << "only one solution";
        ASSERT_LE(std::abs(std::stoll(p.answer)), 317) << "a quarter of ten digits";
        ++zero[p.answer];
    });
    EXPECT_GT(zero.size(), 150u);
}

TEST(Math, SequencesArePolynomials) {
    std::map<std::string, int> questions;
    forProblems("algebra__sequence_next_term", 4000, [&](const Problem& p) {
        const auto begin = p.question.find_first_of("-0123456789");
        ++questions[p.question.substr(0, begin)];
        std::vector<__int128> terms;
        std::string rest = p.question.substr(begin, p.question.size() - begin - 1) + ", ";
        for (std::size_t end; (end = rest.find(", ")) != std::string::npos; rest.erase(0, end + 2))
            terms.push_back(std::stoll(rest.substr(0, end)));
        ASSERT_GE(terms.size(), 3u);
        ASSERT_LE(terms.size(), 8u);
        // Differences of differences, until they are all 0; the answer is that of the same degree.
        std::vector<std::vector<__int128>> rows = {terms};
        const auto isZero = [](const std::vector<__int128>& row) {
            return std::all_of(row.begin(), row.end(), [](__int128 v) { return v == 0; });
        };
        while (!isZero(rows.back())) {
            ASSERT_GT(rows.back().size(), 1u) << "the terms determine no polynomial";
            std::vector<__int128> next;
            for (std::size_t i = 1; i < rows.back().size(); ++i)
                next.push_back(rows.back()[i] - rows.back()[i - 1]);
            rows.push_back(next);
        }
        const auto degree = static_cast<int>(rows.size()) - 2;
        ASSERT_GE(degree, 1);
        ASSERT_LE(degree, 3);
        ASSERT_GE(static_cast<int>(terms.size()), degree + 2);
        __int128 next = 0;
        for (const auto& row : rows) next += row.back();
        ASSERT_EQ(static_cast<std::int64_t>(next), std::stoll(p.answer));
    });
    EXPECT_EQ(questions.size(), 3u);
    for (const auto& [question, count] : questions) EXPECT_NEAR(count, 1333, 150) << question;
}

TEST(Math, DerivativesAreThoseOfTheCoefficients) {
    std::set<std::size_t> variables;
    std::map<std::string, int> orders;
    forProblems("calculus__differentiate", 4000, [&](const Problem& p) {
        std::string text = p.question.substr(0, p.question.size() - 1);
        char variable = 0;
        for (const std::string wrt : {" wrt ", " with respect to "})
            if (const auto at = text.rfind(wrt); at != std::string::npos)
                variable = text[at + wrt.size()], text = text.substr(0, at);
        int order = 1, said = 0;
        for (const auto& [word, n] : {std::pair{" first ", 1}, {" second ", 2}, {" third ", 3}})
            if (text.find(word) != std::string::npos) order = n, ++said, ++orders[word];
        if (said == 0) ++orders["none"];
        const auto of = text.rfind(" of "), space = text.find(' ');
        const auto polynomial =
            Reader().expression(text.substr(of != std::string::npos ? of + 4 : space + 1));
        std::set<char> letters;
        for (const auto& [powers, value] : polynomial.terms)
            for (const auto& [letter, power] : powers) letters.insert(letter);
        variables.insert(letters.size());
        if (variable == 0) {
            ASSERT_LE(letters.size(), 1u) << "which variable?";
            variable = letters.empty() ? 'x' : *letters.begin();
        }
        auto expected = polynomial;
        for (int i = 0; i < order; ++i) expected = expected.derivative(variable);
        ASSERT_EQ(Reader().expression(p.answer), expected);
    });
    EXPECT_GE(variables.size(), 4u) << "one to four variables";
    EXPECT_EQ(orders.size(), 4u);
    EXPECT_NEAR(orders[" third "], orders[" second "], 300);
}

TEST(Math, SumsOfPolynomialsAreWhatTheSentencesSay) {
    std::map<std::string, int> said;
    forProblems("polynomials__add", 6000, [&](const Problem& p) {
        ASSERT_EQ(Reader().question(p.question), Reader().expression(p.answer));
        for (const char* word :
             {"Suppose", "derivative", " be ", ", ", "/", "Give", "Determine", "Calculate"})
            said[word] += p.question.find(word) != std::string::npos;
    });
    // Every way to tell something comes up.
    EXPECT_EQ(said.size(), 8u);
    for (const auto& [word, count] : said) EXPECT_GT(count, 150) << word;
}

TEST(Math, ExpansionsHaveTheSameValue) {
    std::set<int> degrees;
    forProblems("polynomials__expand", 4000, [&](const Problem& p) {
        const auto text = between(p.question, "Expand ", ".");
        ASSERT_EQ(p.question, "Expand " + text + '.');
        ASSERT_NE(text.find('('), std::string::npos);
        ASSERT_EQ(p.answer.find('('), std::string::npos);
        const auto value = Reader().expression(text);
        ASSERT_EQ(value, Reader().expression(p.answer));
        // Powers descend; only "3 - x" begins with a number.
        int highest = 0;
        std::vector<int> powers;
        for (const auto& [letters, number] : value.terms) {
            highest = std::max(highest, letters.empty() ? 0 : letters.begin()->second);
        }
        degrees.insert(highest);
        for (std::size_t at = 0; at < p.answer.size();) {
            const auto end = std::min(p.answer.find(' ', at), p.answer.size());
            const auto term = p.answer.substr(at, end - at);
            at = end + 1;
            if (term == "+" || term == "-") continue;
            const auto star = term.find("**");
            powers.push_back(star != std::string::npos ? std::stoi(term.substr(star + 2))
                             : term.find_first_of("abcdfghijklmnopqrstuvwxyz") != std::string::npos
                                 ? 1
                                 : 0);
        }
        if (powers.size() == 2 && powers[0] == 0) std::swap(powers[0], powers[1]);
        ASSERT_TRUE(std::is_sorted(powers.rbegin(), powers.rend()));
    });
    EXPECT_EQ(degrees, (std::set<int>{1, 2, 3, 4, 5}));
}

TEST(Math, QuestionsFitTheFormAndGetHarder) {
    for (const auto& module : tasksOf("math")) {
        double length[4] = {};
        int number = 0;
        std::set<std::string> questions;
        constexpr int count = 4000;
        forProblems(module, count, [&](const Problem& p) {
            ASSERT_LE(p.question.size(), 160u);
            ASSERT_LE(p.answer.size(), 30u);
            for (const char c : p.question + p.answer) {
                ASSERT_GE(mathematics::tokenOf(c), 1);
                ASSERT_TRUE(c != ';' && c != '@');
            }
            length[number++ % 4] += static_cast<double>(p.question.size());
            questions.insert(p.question);
        });
        EXPECT_LT(length[0] * 1.02, length[1]) << module << ": medium is longer than easy";
        // What is told in several sentences is drawn again where it becomes too long.
        EXPECT_LT(length[module == "polynomials__add" ? 0 : 1] * 1.02, length[2]) << module;
        EXPECT_GT(questions.size(), 0.9 * count) << module;
    }
    EXPECT_THROW(makeProblem("algebra__linear_2d", kLevels[0], SplitMix(1, 1)), OptionError);
}

DataOptions options(const std::string& module = "algebra__linear_1d") {
    DataOptions o;
    o.kind = "math", o.task = module;
    o.train_size = 3000, o.validation_size = 600, o.test_size = 600;
    return o;
}
const mathematics::QuestionData& questions(const DatasetPtr& data) {
    return dynamic_cast<const mathematics::QuestionData&>(*data);
}

TEST(MathData, KeepsItsPartsApart) {
    for (const auto& module : tasksOf("math")) {
        const auto splits = openData(options(module));
        EXPECT_EQ(splits.names(), (std::vector<std::string>{"train", "validation", "interpolate"}));
        std::map<std::string, std::string> splitOf;
        for (const auto& name : splits.names()) {
            const auto& data = questions(splits.find(name));
            for (std::int64_t i = 0; i < data.size(); ++i) {
                const auto p = data.problem(i);
                const auto [found, isNew] = splitOf.emplace(p.question, name);
                ASSERT_TRUE(isNew || found->second == name) << p.question;
            }
        }
        EXPECT_GT(splitOf.size(), 3500u) << module;
    }
}

TEST(MathData, SharesTheQuestionsOutAsSixToOneToOne) {
    std::map<mathematics::Side, int> sides;
    for (int i = 0; i < 8000; ++i)
        ++sides[mathematics::sideOf("What is " + std::to_string(i) + '?')];
    EXPECT_NEAR(sides[mathematics::Side::Train], 6000, 200);
    EXPECT_NEAR(sides[mathematics::Side::Validation], 1000, 130);
    EXPECT_NEAR(sides[mathematics::Side::Interpolate], 1000, 130);
}

TEST(MathData, GivesTokensAndPadding) {
    const auto splits = openData(options());
    const auto& data = questions(splits.train);
    const auto shape = data.shape();
    EXPECT_EQ(shape, (SequenceDataset::Shape{161, 0, 85, 31, 85, 28, 23, 0}));
    EXPECT_EQ(mathematics::kSymbols[27], '@');
    EXPECT_EQ(mathematics::kSymbols[22], ';');
    std::vector<std::int64_t> tokens(161), answer(31);
    for (std::int64_t i = 0; i < 300; ++i) {
        const auto p = data.problem(i);
        data.read(i, {}, tokens, answer);
        const auto textOf = [](const std::vector<std::int64_t>& all) {
            std::string text;
            for (const auto token : all)
                if (token != 0) text += mathematics::kSymbols[static_cast<std::size_t>(token - 1)];
            return text;
        };
        ASSERT_EQ(textOf(tokens), p.question + ';');
        ASSERT_EQ(textOf(answer), p.answer + ';');
        ASSERT_EQ(tokens[p.question.size()], shape.end);
        ASSERT_EQ(tokens[160], p.question.size() == 160 ? shape.end : shape.padding);
        const auto sample = data.sample(i);
        ASSERT_EQ(sample.source.tokens, tokens);
        ASSERT_EQ(sample.source.labels.size(), 161u);
        ASSERT_TRUE(sample.source.text && sample.target.text);
        std::string words;
        for (const auto& word : sample.source.labels) words += word;
        ASSERT_EQ(words, p.question + ';');
        ASSERT_EQ(sample.target.tokens[0], shape.start);
        ASSERT_EQ(textOf(sample.target.tokens), '@' + p.answer);
        ASSERT_EQ(sample.target.labels.size(), sample.target.tokens.size());
    }
    EXPECT_THROW(data.problem(3000), std::out_of_range);
}

TEST(MathData, DependsOnSeedAndIndexAlone) {
    auto o = options("polynomials__add");
    const auto a = openData(o), b = openData(o);
    o.seed = 1;
    const auto other = openData(o);
    std::vector<std::vector<Problem>> read(3);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : read)
            threads.emplace_back([&mine, &a] {
                for (std::int64_t i = 0; i < 200; ++i)
                    mine.push_back(questions(a.train).problem(13 * i));
            });
    }
    int equal = 0;
    for (std::size_t i = 0; i < 200; ++i) {
        const auto index = static_cast<std::int64_t>(13 * i);
        ASSERT_EQ(read[0][i], read[1][i]);
        ASSERT_EQ(read[0][i], read[2][i]);
        ASSERT_EQ(read[0][i], questions(b.train).problem(index));
        equal += read[0][i] == questions(other.train).problem(index);
    }
    EXPECT_EQ(equal, 0);
    o.train_size = o.validation_size = o.test_size = 0;
    EXPECT_EQ(openData(o).train->size(), 100000);
    EXPECT_EQ(openData(o).find("interpolate")->size(), 10000);
    EXPECT_NE(openData(o).train->info().note.find("no extrapolation"), std::string::npos);
}

}  // namespace
}  // namespace relascope
