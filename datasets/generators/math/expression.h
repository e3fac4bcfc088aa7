// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions that are never simplified: "3*x - 5*x + (x - 1)*4".
#pragma once

#include <string>
#include <vector>

#include "datasets/generators/math/draws.h"

namespace relascope::datasets::mathematics {

// Polynomials of up to four variables, as the mathematics questions draw and write them.

/// Coefficients by the powers of the variables, row-major: shape[i] powers, 0 .. shape[i] - 1, of
/// variable i.
struct Polynomial {
    std::vector<int> shape;
    std::vector<Rational> values;

    Polynomial() = default;
    /// A polynomial whose coefficients are all 0.
    explicit Polynomial(std::vector<int> shape);
    /// A polynomial of one variable, its coefficients by ascending power.
    explicit Polynomial(const std::vector<std::int64_t>& coefficients);

    std::size_t index(const std::vector<int>& powers) const;
    std::vector<int> powers(std::size_t index) const;
    /// The polynomial of one variable without leading zeros.
    Polynomial trimmed() const;
    bool isInteger() const;
    bool isZero() const;
    bool operator==(const Polynomial&) const = default;
};

/// Sum and product of polynomials of one variable.
Polynomial operator+(const Polynomial& a, const Polynomial& b);
Polynomial operator*(const Polynomial& a, const Polynomial& b);
/// The highest power of a polynomial of one variable whose coefficient is not 0; 0 without any.
int degreeOf(const Polynomial& p);

/// The derivative along a variable, and the antiderivative without a constant.
Polynomial derivative(const Polynomial& p, int variable);
Polynomial antiderivative(const Polynomial& p, int variable);

/// Integer coefficients that split the entropy: every variable reaches its degree, `least` to
/// `most` of them are not 0; most = 0 stands for one more than the least for every two digits of
/// entropy.
Polynomial randomPolynomial(Draws& draws, const std::vector<int>& degrees, double entropy,
                            int least = 0, int most = 0);

/// A polynomial as answers are written: powers descending, variables in the order of the alphabet,
/// "2*x**2*y/3 - x + 1"; "0". As in the published generator, a positive number comes before a
/// single negative term: "3 - x".
std::string textOf(const Polynomial& p, const std::vector<std::string>& variables);

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
    /// The whole numbers that occur in the expression, exponents too, from left to right.
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
