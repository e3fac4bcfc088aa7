// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of questions: arithmetic with a given value, and polynomials as sums of others.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "datasets/generators/math/entities.h"

namespace relascope::datasets::mathematics {
namespace {

enum class Operation { Add, Subtract, Multiply, Divide };

struct Operands {
    Rational left, right;
};

Operands divided(Draws& draws, const Rational& value, int operations, double entropy) {
    const auto above = value.numerator, below = value.denominator;
    if (operations == 1) {
        const auto factor = draws.integer(entropy, true, 1);
        return {times(above, factor), times(below, factor)};
    }
    if (operations == 2) {
        if (above == 0 || draws.coin()) {
            const auto x = draws.integer(entropy, true, 1, below);
            return {{times(x, above), below}, x};
        }
        const auto x = draws.integer(entropy, true, 1, above);
        return {x, {times(x, below), above}};
    }
    const auto [p2, p1] = draws.factors(above);
    const auto [q1, q2] = draws.factors(below);
    entropy -= factorEntropy(above) + factorEntropy(below);
    const double part = draws.uniform(0.0, entropy);
    const auto r = draws.integer(part, true, 1, times(q1, p2)),
               s = draws.integer(entropy - part, false, 1, times(p1, q2));
    return {{times(r, p1), times(s, q1)}, {times(r, q2), times(s, p2)}};
}

Operands multiplied(Draws& draws, const Rational& value, int operations, double entropy) {
    Operands o;
    if (operations >= 3) {
        o = divided(draws, value, operations, entropy);
        o.right = Rational(1) / o.right;
    } else if (operations == 1) {
        const auto [left, right] = draws.factors(value.numerator);
        o = {left, right};
    } else {
        const auto [left, right] = draws.factors(value.numerator);
        const auto factor = draws.integer(entropy - factorEntropy(value.numerator), true, 1, left);
        o = {{left, times(factor, value.denominator)}, times(right, factor)};
    }
    if (draws.coin()) std::swap(o.left, o.right);
    return o;
}

Operands operandsOf(Draws& draws, Operation operation, const Rational& value, int operations,
                    double entropy) {
    if (operation == Operation::Divide) return divided(draws, value, operations, entropy);
    if (operation == Operation::Multiply) return multiplied(draws, value, operations, entropy);
    const Rational x = operations >= 3 ? draws.number(entropy) : draws.integer(entropy);
    const bool first = draws.coin();
    if (operation == Operation::Add) return first ? Operands{x, value - x} : Operands{value - x, x};
    return first ? Operands{x, x - value} : Operands{value + x, x};
}

}  // namespace

Expression Entities::arithmetic(const Rational& value, int operations, double entropy) {
    if (operations == 0) return Expression::number(value);
    std::vector<Operation> possible = {Operation::Divide};
    const double part = entropy / operations;
    if (operations >= 2 || value.isInteger()) {
        possible.push_back(Operation::Add);
        possible.push_back(Operation::Subtract);
    }
    // The entropy of a product of integers is the entropy of its factors.
    if (operations >= 2 || (value.isInteger() && entropy <= factorEntropy(value.numerator)))
        possible.push_back(Operation::Multiply);
    const auto operation = m_draws.oneOf(possible);
    const auto [left, right] = operandsOf(m_draws, operation, value, operations, part);

    // Writing a fraction with integers requires one operation.
    const int fractions = (left.isInteger() ? 0 : 1) + (right.isInteger() ? 0 : 1);
    if (fractions > operations - 1) throw Outgrown();
    auto counts = m_draws.parts(2, operations - 1 - fractions);
    counts[0] += left.isInteger() ? 0 : 1;
    counts[1] += right.isInteger() ? 0 : 1;
    const auto entropies = m_draws.dirichlet(entropy - part, counts);
    auto a = arithmetic(left, counts[0], entropies[0]),
         b = arithmetic(right, counts[1], entropies[1]);
    switch (operation) {
        case Operation::Add:
            return Expression::sum({std::move(a), std::move(b)});
        case Operation::Subtract:
            return Expression::difference(std::move(a), std::move(b));
        case Operation::Multiply:
            return Expression::product({std::move(a), std::move(b)});
        case Operation::Divide:
            break;
    }
    return Expression::quotient(std::move(a), std::move(b));
}

namespace {

// x and y with a x + b y = gcd(a, b), by Euclid's algorithm.
struct Bezout {
    std::int64_t divisor, x, y;
};
Bezout bezout(std::int64_t a, std::int64_t b) {
    if (b == 0) return a < 0 ? Bezout{-a, -1, 0} : Bezout{a, 1, 0};
    const auto [divisor, x, y] = bezout(b, a % b);
    return {divisor, y, x - a / b * y};
}

struct Multiple {
    const Entity* factor;
    const Entity* function;
    bool isLetter() const { return factor->isLetter(); }
};

// The order of the published generator: letters before numbers, then alphabetical.
bool comesBefore(const Multiple& a, const Multiple& b) {
    if (a.isLetter() != b.isLetter()) return a.isLetter();
    return a.isLetter() ? a.factor->handle < b.factor->handle
                        : a.function->handle < b.function->handle;
}

}  // namespace

Entities::Sum Entities::splitSum(const Polynomial& p, double entropy, const SampleArgs& args) {
    const double ofA = std::max(1.0, m_draws.uniform(0.0, entropy / 3.0)),
                 ofB = std::max(1.0, m_draws.uniform(0.0, entropy / 3.0));
    const auto entropies =
        m_draws.dirichlet(std::max(0.0, entropy - ofA - ofB), static_cast<int>(p.values.size()));
    std::int64_t common = 0;
    for (const auto& value : p.values) common = std::gcd(common, value.numerator);
    common = std::max<std::int64_t>(1, common);

    // a x + b y = c has solutions where gcd(a, b) divides c: for every coefficient c.
    std::int64_t a = m_draws.integer(ofA, true, 1), b = m_draws.integer(ofB, true, 1, a);
    b = times(b, m_draws.factors(common).first);
    if (m_draws.coin()) std::swap(a, b);
    const auto [divisor, x, y] = bezout(a, b);
    std::vector<std::int64_t> f, g;
    for (std::size_t i = 0; i < p.values.size(); ++i) {
        // One solution, and t steps to another.
        const std::int64_t scale = p.values[i].numerator / divisor,
                           t = m_draws.integer(entropies[i]);
        f.push_back(plus(times(x, scale), times(b / divisor, t)));
        g.push_back(plus(times(y, scale), -times(a / divisor, t)));
    }
    const auto isZero = [](const std::vector<std::int64_t>& c) {
        return std::all_of(c.begin(), c.end(), [](std::int64_t v) { return v == 0; });
    };
    while (isZero(f) || isZero(g)) {
        const auto at =
            static_cast<std::size_t>(m_draws.between(0, static_cast<int>(f.size()) - 1));
        const std::int64_t sign = m_draws.coin() ? 1 : -1;
        f[at] += sign * b, g[at] -= sign * a;
    }
    const auto each = split(args, 4);
    const std::vector<Entity> parts = {number(a, each[0]), number(b, each[1]),
                                       polynomial(Polynomial(f).trimmed(), each[2]),
                                       polynomial(Polynomial(g).trimmed(), each[3])};
    Sum sum;
    sum.premises = tell(parts);
    sum.variable = letter();
    Multiple first{&parts[0], &parts[2]}, second{&parts[1], &parts[3]};
    if (comesBefore(second, first)) std::swap(first, second);
    for (const auto& multiple : {first, second}) {
        std::string factor = multiple.factor->handle;
        const bool negative = factor[0] == '-';
        if (negative) factor.erase(0, 1);
        sum.text += sum.text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
        if (factor != "1") sum.text += factor + '*';
        sum.text += multiple.function->handle + '(' + sum.variable + ')';
    }
    return sum;
}

}  // namespace relascope::datasets::mathematics
