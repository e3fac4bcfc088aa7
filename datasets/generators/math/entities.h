// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and polynomials that a mathematics question names instead of writing out (the composition
// of modules, Saxton et al. 2019, section 2.3): "Suppose 3*z = 4*z - 12. Let r(k) be the second
// derivative of ...".
#pragma once

#include <string>
#include <vector>

#include "datasets/generators/math/expression.h"

namespace relascope::datasets::mathematics {

/// How many sentences a part of a question has, and the entropy of all of them (the published
/// generator's SampleArgs).
struct SampleArgs {
    int modules = 1;
    double entropy = 0.0;

    /// Takes the entropy of one sentence away and returns it.
    double peel() {
        const double part = entropy / modules;
        entropy -= part;
        return part;
    }
};

/// A value as it is written in the question.
struct Entity {
    std::string premises;    ///< sentences that define the entities it uses
    std::string sentence;    ///< the sentence that defines it; empty for a plain number
    std::string handle;      ///< "-3", a letter, or the name of a function
    std::string expression;  ///< a polynomial that may stand in place of its sentence
    std::string variable;    ///< variable of `expression`

    bool isLetter() const { return !sentence.empty(); }
};

/// The entities of one question. Each uses letters that no other one does; throws Outgrown when
/// they run out.
class Entities {
public:
    explicit Entities(Draws& draws);

    /// An unused letter: a .. z but e.
    std::string letter();
    Entity number(std::int64_t value, SampleArgs args);
    /// Names a polynomial of one variable.
    Entity polynomial(const Polynomial& p, SampleArgs args);
    /// Divides `args` among `count` entities.
    std::vector<SampleArgs> split(const SampleArgs& args, int count);
    /// The sentences of several entities in random order, without those written in place.
    std::string tell(const std::vector<Entity>& entities);

    /// The core of polynomials__add: two numbers and two functions with a f(x) + b g(x) = p.
    struct Sum {
        std::string premises, text, variable;
    };
    Sum splitSum(const Polynomial& p, double entropy, const SampleArgs& args);

private:
    Entity solved(std::int64_t value, SampleArgs args, int unknowns);
    Entity addedOrSubtracted(std::int64_t value, SampleArgs args);
    Entity calculated(std::int64_t value, SampleArgs args);
    Entity evaluated(std::int64_t value, SampleArgs args);
    Entity plain(const Polynomial& p);
    Entity differentiated(const Polynomial& p, SampleArgs args);
    Entity added(const Polynomial& p, SampleArgs args);
    Entity collected(const Polynomial& p, SampleArgs args);

    Expression arithmetic(const Rational& value, int operations, double entropy);
    /// Names some of the numbers in the expressions; returns the sentences on them.
    std::string nameNumbers(const SampleArgs& args, std::vector<Expression*> numbers);

    Draws& m_draws;
    std::vector<std::string> m_letters;  // unused
};

/// The word for an ordinal: "first", "second", "third".
const char* ordinalWord(int n);
/// Joins sentences or parts of them with a space; leaves out empty ones.
std::string joined(const std::string& a, const std::string& b);

}  // namespace relascope::datasets::mathematics
