// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "datasets/generators/math/expression.h"

namespace relascope::datasets::mathematics {
namespace {

// "2*x**2*y/3" of the number's absolute value; `order`: the variables by the alphabet.
std::string termText(const Rational& number, const std::vector<int>& powers,
                     const std::vector<std::string>& variables,
                     const std::vector<std::size_t>& order) {
    std::string text;
    const std::int64_t above = std::abs(number.numerator);
    if (above != 1) text = std::to_string(above);
    for (const auto i : order) {
        if (powers[i] == 0) continue;
        if (!text.empty()) text += '*';
        text += variables[i];
        if (powers[i] > 1) text += "**" + std::to_string(powers[i]);
    }
    if (text.empty()) text = "1";
    if (number.denominator != 1) text += '/' + std::to_string(number.denominator);
    return text;
}

}  // namespace

Polynomial::Polynomial(std::vector<int> sizes) : shape(std::move(sizes)) {
    std::size_t count = 1;
    for (const int size : shape) count *= static_cast<std::size_t>(size);
    values.resize(count);
}

Polynomial::Polynomial(const std::vector<std::int64_t>& coefficients)
    : shape{static_cast<int>(coefficients.size())},
      values(coefficients.begin(), coefficients.end()) {}

std::size_t Polynomial::index(const std::vector<int>& powers) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
        at = at * static_cast<std::size_t>(shape[i]) + static_cast<std::size_t>(powers[i]);
    return at;
}

std::vector<int> Polynomial::powers(std::size_t index) const {
    std::vector<int> powers(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
        powers[i] = static_cast<int>(index % static_cast<std::size_t>(shape[i]));
        index /= static_cast<std::size_t>(shape[i]);
    }
    return powers;
}

Polynomial Polynomial::trimmed() const {
    Polynomial p = *this;
    while (!p.values.empty() && p.values.back() == Rational(0)) p.values.pop_back();
    p.shape = {static_cast<int>(p.values.size())};
    return p;
}

bool Polynomial::isInteger() const {
    return std::all_of(values.begin(), values.end(), [](const auto& v) { return v.isInteger(); });
}

bool Polynomial::isZero() const {
    return std::all_of(values.begin(), values.end(),
                       [](const auto& v) { return v == Rational(0); });
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
    Polynomial sum(std::vector<int>{std::max(a.shape[0], b.shape[0])});
    for (std::size_t i = 0; i < sum.values.size(); ++i) {
        if (i < a.values.size()) sum.values[i] = a.values[i];
        if (i < b.values.size()) sum.values[i] = sum.values[i] + b.values[i];
    }
    return sum;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial product(std::vector<int>{std::max(1, a.shape[0] + b.shape[0] - 1)});
    for (std::size_t i = 0; i < a.values.size(); ++i)
        for (std::size_t j = 0; j < b.values.size(); ++j)
            product.values[i + j] = product.values[i + j] + a.values[i] * b.values[j];
    return product;
}

int degreeOf(const Polynomial& p) {
    return std::max(0, p.trimmed().shape[0] - 1);
}

Polynomial derivative(const Polynomial& p, int variable) {
    const auto axis = static_cast<std::size_t>(variable);
    auto shape = p.shape;
    shape[axis] = std::max(1, shape[axis] - 1);
    Polynomial result(shape);
    for (std::size_t i = 0; i < p.values.size(); ++i) {
        if (p.values[i] == Rational(0)) continue;
        auto powers = p.powers(i);
        const int power = powers[axis];
        if (power == 0) continue;
        --powers[axis];
        result.values[result.index(powers)] = p.values[i] * Rational(power);
    }
    return result;
}

Polynomial antiderivative(const Polynomial& p, int variable) {
    const auto axis = static_cast<std::size_t>(variable);
    auto shape = p.shape;
    ++shape[axis];
    Polynomial result(shape);
    for (std::size_t i = 0; i < p.values.size(); ++i) {
        if (p.values[i] == Rational(0)) continue;
        auto powers = p.powers(i);
        ++powers[axis];
        result.values[result.index(powers)] = p.values[i] / Rational(powers[axis]);
    }
    return result;
}

Polynomial randomPolynomial(Draws& draws, const std::vector<int>& degrees, double entropy,
                            int least, int most) {
    std::vector<int> shape;
    for (const int degree : degrees) shape.push_back(degree + 1);
    Polynomial p(shape);
    const auto anywhere = [&] {
        std::vector<int> powers;
        for (const int degree : degrees) powers.push_back(draws.between(0, degree));
        return powers;
    };
    std::set<std::size_t> used;
    for (std::size_t i = 0; i < degrees.size(); ++i) {
        if (degrees[i] == 0) continue;
        auto powers = anywhere();
        powers[i] = degrees[i];
        used.insert(p.index(powers));
    }
    const int all = static_cast<int>(p.values.size());
    least = std::max({least, 1, static_cast<int>(used.size())});
    if (most == 0) most = least + static_cast<int>(entropy / 2.0);
    least = std::min(least, all);
    most = std::max(least, std::min(most, all));
    const int count = draws.between(least, most);
    while (static_cast<int>(used.size()) < count) used.insert(p.index(anywhere()));
    const auto entropies = draws.dirichlet(entropy, count);
    std::size_t next = 0;
    for (const auto at : used) p.values[at] = draws.integer(entropies[next++], true, 1);
    return p;
}

std::string textOf(const Polynomial& p, const std::vector<std::string>& variables) {
    std::vector<std::size_t> order(variables.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return variables[a] < variables[b]; });
    struct Term {
        std::vector<int> powers;  // in that order of the variables, to be sorted by
        std::size_t index;
    };
    std::vector<Term> terms;
    for (std::size_t i = 0; i < p.values.size(); ++i) {
        if (p.values[i] == Rational(0)) continue;
        const auto powers = p.powers(i);
        Term term{{}, i};
        for (const auto v : order) term.powers.push_back(powers[v]);
        terms.push_back(std::move(term));
    }
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return a.powers > b.powers; });
    const auto number = [&](const Term& term) { return p.values[term.index]; };
    if (terms.size() == 2 && number(terms[0]).numerator < 0 && number(terms[1]).numerator > 0) {
        const auto& last = terms[1].powers;
        const auto factors = std::count_if(terms[0].powers.begin(), terms[0].powers.end(),
                                           [](int n) { return n > 0; });
        if (factors == 1 && std::all_of(last.begin(), last.end(), [](int n) { return n == 0; }))
            std::swap(terms[0], terms[1]);
    }
    std::string text;
    for (const auto& term : terms) {
        const bool negative = number(term).numerator < 0;
        text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
        text += termText(number(term), p.powers(term.index), variables, order);
    }
    return text.empty() ? "0" : text;
}

namespace {

std::string numberText(const Rational& value) {
    std::string text = std::to_string(value.numerator);
    if (!value.isInteger()) text += '/' + std::to_string(value.denominator);
    return text;
}

}  // namespace

Expression Expression::number(const Rational& value) {
    Expression e(Kind::Number);
    e.m_value = value;
    return e;
}
Expression Expression::name(const std::string& text) {
    Expression e(Kind::Name);
    e.m_name = text;
    return e;
}
Expression Expression::sum(std::vector<Expression> terms) {
    return Expression(Kind::Sum, std::move(terms));
}
Expression Expression::negative(Expression term) {
    return Expression(Kind::Negative, {std::move(term)});
}
Expression Expression::difference(Expression left, Expression right) {
    return Expression(Kind::Difference, {std::move(left), std::move(right)});
}
Expression Expression::product(std::vector<Expression> factors) {
    return Expression(Kind::Product, std::move(factors));
}
Expression Expression::quotient(Expression above, Expression below) {
    return Expression(Kind::Quotient, {std::move(above), std::move(below)});
}
Expression Expression::power(Expression base, Expression exponent) {
    return Expression(Kind::Power, {std::move(base), std::move(exponent)});
}

Expression Expression::monomial(const Rational& coefficient, const std::string& variable,
                                int exponent) {
    const bool isNegative = coefficient.numerator < 0;
    const Rational size = isNegative ? -coefficient : coefficient;
    std::vector<Expression> factors;
    if (exponent == 0 || !(size == Rational(1))) factors.push_back(number(size));
    if (exponent == 1) factors.push_back(name(variable));
    if (exponent > 1) factors.push_back(power(name(variable), number(exponent)));
    auto term = factors.size() > 1 ? product(std::move(factors)) : std::move(factors[0]);
    return isNegative ? negative(std::move(term)) : term;
}

// The smaller, the tighter.
int Expression::binding() const {
    switch (m_kind) {
        case Kind::Number:
            return m_value.isInteger() && m_value.numerator >= 0 ? 1 : 4;
        case Kind::Name:
            return 1;
        case Kind::Power:
            return 2;
        case Kind::Product:
        case Kind::Quotient:
            return 4;
        case Kind::Sum:
        case Kind::Negative:
        case Kind::Difference:
            return 5;
    }
    return 5;
}

std::string Expression::within(const Expression& parent, bool bracketEqual) const {
    const int own = binding(), outer = parent.binding();
    const bool plain = own < outer || (own == outer && !bracketEqual);
    return plain ? text() : '(' + text() + ')';
}

void Expression::addTerms(bool positive,
                          std::vector<std::pair<bool, const Expression*>>& terms) const {
    if (m_kind == Kind::Sum)
        for (const auto& part : m_parts) part.addTerms(positive, terms);
    else if (m_kind == Kind::Negative)
        m_parts[0].addTerms(!positive, terms);
    else
        terms.emplace_back(positive, this);
}

std::string Expression::text() const {
    switch (m_kind) {
        case Kind::Number:
            return numberText(m_value);
        case Kind::Name:
            return m_name;
        case Kind::Difference:
            return m_parts[0].within(*this, false) + " - " + m_parts[1].within(*this, true);
        case Kind::Quotient:
            return m_parts[0].within(*this, true) + '/' + m_parts[1].within(*this, true);
        case Kind::Power:
            return m_parts[0].within(*this, true) + "**" + m_parts[1].within(*this, true);
        case Kind::Product: {
            std::string all;
            for (const auto& part : m_parts)
                all += (all.empty() ? "" : "*") + part.within(*this, false);
            return all;
        }
        case Kind::Sum:
        case Kind::Negative:
            break;
    }
    std::vector<std::pair<bool, const Expression*>> terms;
    addTerms(true, terms);
    std::string all;
    for (const auto& [positive, term] : terms) {
        if (all.empty())
            all = positive ? "" : "-";
        else
            all += positive ? " + " : " - ";
        all += term->within(*this, true);
    }
    return all.empty() ? "0" : all;
}

std::vector<Expression*> Expression::integers() {
    if (m_kind == Kind::Number && m_value.isInteger()) return {this};
    std::vector<Expression*> found;
    for (auto& part : m_parts) {
        const auto inner = part.integers();
        found.insert(found.end(), inner.begin(), inner.end());
    }
    return found;
}

void Expression::replace(const std::string& text) {
    *this = name(text);
}

Expression scattered(Draws& draws, const std::vector<std::vector<Rational>>& coefficients,
                     const std::string& variable) {
    std::vector<Expression> terms;
    for (std::size_t power = 0; power < coefficients.size(); ++power)
        for (const auto& coefficient : coefficients[power])
            terms.push_back(Expression::monomial(coefficient, variable, static_cast<int>(power)));
    draws.random().shuffle(terms);
    return Expression::sum(std::move(terms));
}

std::vector<std::vector<Rational>> spread(Draws& draws, const Polynomial& p, double entropy,
                                          int length) {
    std::vector<bool> isZero;
    for (const auto& value : p.values) isZero.push_back(value == Rational(0));
    const int least = static_cast<int>(std::count(isZero.begin(), isZero.end(), false)) + 2;
    if (length == 0)
        length = draws.between(least, least + static_cast<int>(std::ceil(entropy) / 2.0));
    const auto counts = draws.summands(std::max(length, least), isZero);
    std::vector<int> weights;
    for (const int count : counts) weights.push_back(std::max(0, count - 1));
    const auto entropies = draws.dirichlet(entropy, weights);
    std::vector<std::vector<Rational>> lists;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto terms = draws.addingUpTo(p.values[i].numerator, counts[i], entropies[i]);
        lists.emplace_back(terms.begin(), terms.end());
    }
    return lists;
}

Equation equation(Draws& draws, const std::vector<Expression>& terms) {
    std::vector<Expression> left, right;
    for (const auto& term : terms) {
        if (draws.coin())
            left.push_back(term);
        else
            right.push_back(Expression::negative(term));
    }
    if (left.empty()) left.push_back(Expression::number(0));
    if (right.empty()) right.push_back(Expression::number(0));
    return {Expression::sum(std::move(left)), Expression::sum(std::move(right))};
}

namespace {

using Matrix = std::vector<std::int64_t>;  // row-major, 1 x 1 or 2 x 2

Matrix invertibleMatrix(Draws& draws, std::size_t size, double entropy) {
    const auto entropies = draws.dirichlet(entropy, static_cast<int>(size * size));
    for (;;) {
        Matrix m;
        for (const double part : entropies) m.push_back(draws.integer(std::max(1.0, part)));
        if (size == 1 && m[0] != 0) return m;
        if (size == 2 && m[1] != 0 && m[3] != 0 && m[0] * m[3] != m[1] * m[2]) return m;
    }
}

}  // namespace

std::vector<Equation> linearSystem(Draws& draws, const std::vector<std::string>& unknowns,
                                   const std::vector<std::int64_t>& solutions, double entropy) {
    const std::size_t size = unknowns.size();
    const double left = draws.uniform(1.0 / 3.0, 2.0 / 3.0);
    auto numbers = invertibleMatrix(draws, size, entropy * left);
    for (std::size_t row = 0; row < size; ++row) {
        std::int64_t constant = 0;
        for (std::size_t i = 0; i < size; ++i)
            constant = plus(constant, times(numbers[row * size + i], solutions[i]));
        numbers.push_back(constant);
    }
    std::vector<bool> isZero;
    for (const auto number : numbers) isZero.push_back(number == 0);
    const int least = static_cast<int>(std::count(isZero.begin(), isZero.end(), false)) + 1;
    const int most =
        std::max(least, 1 + static_cast<int>(static_cast<double>(size) * (1.0 + entropy / 2.0)));
    const auto counts = draws.summands(draws.between(least, most), isZero);
    std::vector<int> weights;
    for (const int count : counts) weights.push_back(std::max(0, count - 1));
    const auto entropies = draws.dirichlet((1.0 - left) * entropy, weights);
    std::vector<Equation> equations;
    for (std::size_t row = 0; row < size; ++row) {
        std::vector<Expression> terms;
        const auto add = [&](std::size_t at, const std::string& unknown) {
            for (const auto term : draws.addingUpTo(numbers[at], counts[at], entropies[at]))
                terms.push_back(unknown.empty() ? Expression::monomial(-Rational(term), "", 0)
                                                : Expression::monomial(term, unknown, 1));
        };
        for (std::size_t i = 0; i < size; ++i) add(row * size + i, unknowns[i]);
        add(size * size + row, "");
        equations.push_back(equation(draws, terms));
    }
    return equations;
}

}  // namespace relascope::datasets::mathematics
