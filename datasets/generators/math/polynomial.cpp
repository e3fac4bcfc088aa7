// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/math/polynomial.h"

#include <algorithm>
#include <numeric>
#include <set>

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

}  // namespace relascope::datasets::mathematics
