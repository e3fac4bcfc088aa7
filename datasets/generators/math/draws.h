// SPDX-License-Identifier: GPL-3.0-or-later
// The random quantities of the mathematics questions (Saxton et al. 2019, section 2): numbers drawn
// by their entropy, the decimal logarithm of how many values are equally likely.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/generators/random.h"

namespace relascope::datasets::mathematics {

/// Thrown if a question exceeds its limits: numbers of more than 64 bits, or no unused letter. The
/// generator then draws another question; users never see this.
struct Outgrown {};

/// Sums and products that throw Outgrown instead of wrapping.
std::int64_t plus(std::int64_t a, std::int64_t b);
std::int64_t times(std::int64_t a, std::int64_t b);

/// A fraction in lowest terms, its denominator positive.
struct Rational {
    std::int64_t numerator = 0, denominator = 1;

    Rational() = default;
    Rational(std::int64_t value) : numerator(value) {}
    /// Throws Outgrown for a denominator of 0.
    Rational(std::int64_t numerator, std::int64_t denominator);
    bool isInteger() const { return denominator == 1; }
    bool operator==(const Rational&) const = default;
};
Rational operator+(const Rational& a, const Rational& b);
Rational operator-(const Rational& a, const Rational& b);
Rational operator*(const Rational& a, const Rational& b);
Rational operator/(const Rational& a, const Rational& b);
Rational operator-(const Rational& a);

class Draws {
public:
    explicit Draws(SplitMix random) : m_random(random) {}

    SplitMix& random() { return m_random; }
    bool coin() { return m_random.below(2) == 1; }
    double uniform(double low, double high) { return low + (high - low) * m_random.uniform(); }
    int between(int low, int high) { return static_cast<int>(m_random.between(low, high)); }
    template <class T>
    const T& oneOf(const std::vector<T>& items) {
        return items[static_cast<std::size_t>(m_random.below(static_cast<int>(items.size())))];
    }

    /// One of about 10^entropy equally likely integers: from -m .. m with m half of their number,
    /// or from least .. m. Its absolute value is at least `least`, and it has no common divisor
    /// with `coprime`; the range is widened for both.
    std::int64_t integer(double entropy, bool isSigned = true, std::int64_t least = 0,
                         std::int64_t coprime = 1);
    /// An integer or a fraction, each with probability 1/2; a fraction's entropy is split at
    /// random.
    Rational number(double entropy);
    /// Splits `total` by a Dirichlet distribution with these integer weights; weight 0 gets 0.
    std::vector<double> dirichlet(double total, const std::vector<int>& weights);
    std::vector<double> dirichlet(double total, int count) {
        return dirichlet(total, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
    /// `count` numbers >= 0 that add up to `sum`, every choice equally likely.
    std::vector<int> parts(int count, int sum);
    /// The number of summands of each coefficient, `length` in total: at least one for coefficients
    /// that are not 0, and never exactly one for coefficients that are 0.
    std::vector<int> summands(int length, const std::vector<bool>& isZero);
    /// `count` integers that add up to `value`. Throws Outgrown if a single summand cannot be it.
    std::vector<std::int64_t> addingUpTo(std::int64_t value, int count, double entropy);
    /// Two factors of a product, its prime factors dealt out at random; 1 and 0 for 0.
    std::pair<std::int64_t, std::int64_t> factors(std::int64_t product);

private:
    SplitMix m_random;
};

/// Entropy of the ways in which factors() can answer.
double factorEntropy(std::int64_t product);
/// Decimal logarithm of the number of binary trees with that many inner nodes.
double treeEntropy(int nodes);

}  // namespace relascope::datasets::mathematics
