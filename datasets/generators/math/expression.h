// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions that are never simplified: "3*x - 5*x + (x - 1)*4".
#pragma once

#include <string>
#include <vector>

#include "datasets/generators/math/polynomial.h"

namespace relascope::datasets::mathematics {

class Expression {
public:
    static Expression number(const Rational& value);
    /// A variable, or whatever stands for a value.
    static Expression name(const std::string& text);
    /// Nested sums are written without brackets.
    static Expression sum(std::vector<Expression> terms);
    static Expression negative(Expression term);
    static Expression difference(Expression left, Expression right);
    static Expression product(std::vector<Expression> factors);
    static Expression quotient(Expression above, Expression below);
    static Expression power(Expression base, Expression exponent);
    /// coefficient * variable ** power, in the shortest form: "-x", "3", "0*x**2".
    static Expression monomial(const Rational& coefficient, const std::string& variable, int power);

    std::string text() const;
    /// The whole numbers that occur in it, exponents too, from left to right.
    std::vector<Expression*> integers();
    const Rational& value() const { return m_value; }
    /// Replaces a number by a name.
    void replace(const std::string& name);

private:
    enum class Kind { Number, Name, Sum, Negative, Difference, Product, Quotient, Power };
    explicit Expression(Kind kind, std::vector<Expression> parts = {})
        : m_kind(kind), m_parts(std::move(parts)) {}

    int binding() const;
    std::string within(const Expression& parent, bool bracketEqual) const;
    void addTerms(bool positive, std::vector<std::pair<bool, const Expression*>>& terms) const;

    Kind m_kind;
    Rational m_value;
    std::string m_name;
    std::vector<Expression> m_parts;
};

/// The sum of all monomials, in random order; each coefficient is the sum of its list.
Expression scattered(Draws& draws, const std::vector<std::vector<Rational>>& coefficients,
                     const std::string& variable);
/// Lists of integers that add up to the integer coefficients of a polynomial of one variable:
/// `length` summands in all, 0 for a number that depends on the entropy.
std::vector<std::vector<Rational>> spread(Draws& draws, const Polynomial& p, double entropy,
                                          int length = 0);

struct Equation {
    Expression left, right;
    std::string text() const { return left.text() + " = " + right.text(); }
};
/// The terms add up to 0: each is written on the left side, or negated on the right side.
Equation equation(Draws& draws, const std::vector<Expression>& terms);

/// One equation for each unknown, solved by `solutions`; coefficients and constants are split into
/// several terms. With two unknowns, no equation names the first one alone.
std::vector<Equation> linearSystem(Draws& draws, const std::vector<std::string>& unknowns,
                                   const std::vector<std::int64_t>& solutions, double entropy);

}  // namespace relascope::datasets::mathematics
