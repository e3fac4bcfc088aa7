// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/math/draws.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace relascope::datasets::mathematics {
namespace {

// Beyond this many digits a question would be too long anyway.
constexpr double kMostEntropy = 17.0;

std::int64_t minus(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result)) throw Outgrown();
    return result;
}

// Prime factors with their powers; -1 is one of a negative number.
std::map<std::int64_t, int> primeFactors(std::int64_t n) {
    std::map<std::int64_t, int> powers;
    if (n < 0) powers[-1] = 1, n = -n;
    for (std::int64_t p = 2; p * p <= n; p += p == 2 ? 1 : 2) {
        if (p > 2'000'000) throw Outgrown();  // would take minutes
        while (n % p == 0) ++powers[p], n /= p;
    }
    if (n > 1) ++powers[n];
    return powers;
}

// Fraction of the integers without a common divisor with n.
double coprimeShare(std::int64_t n) {
    double coprime = 1.0;
    for (const auto& [prime, power] : primeFactors(n))
        coprime *= 1.0 - 1.0 / static_cast<double>(prime);
    return coprime;
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

std::int64_t plus(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) throw Outgrown();
    return result;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) throw Outgrown();
    return result;
}

Rational::Rational(std::int64_t above, std::int64_t below) {
    if (below == 0) throw Outgrown();
    const std::int64_t common = std::gcd(above, below) * (below < 0 ? -1 : 1);
    numerator = above / common;
    denominator = below / common;
}
Rational operator+(const Rational& a, const Rational& b) {
    return {plus(times(a.numerator, b.denominator), times(b.numerator, a.denominator)),
            times(a.denominator, b.denominator)};
}
Rational operator-(const Rational& a) {
    return {minus(0, a.numerator), a.denominator};
}
Rational operator-(const Rational& a, const Rational& b) {
    return a + -b;
}
Rational operator*(const Rational& a, const Rational& b) {
    return {times(a.numerator, b.numerator), times(a.denominator, b.denominator)};
}
Rational operator/(const Rational& a, const Rational& b) {
    return {times(a.numerator, b.denominator), times(a.denominator, b.numerator)};
}

std::int64_t Draws::integer(double entropy, bool isSigned, std::int64_t least,
                            std::int64_t coprime) {
    if (entropy > kMostEntropy) throw Outgrown();
    coprime = std::abs(coprime);
    double most = std::pow(10.0, entropy) + static_cast<double>(least);
    if (coprime >= 2) most = most / coprimeShare(coprime) + 1.0;
    const auto high = static_cast<std::int64_t>(std::ceil(isSigned ? most / 2.0 : most));
    for (;;) {
        const std::int64_t value = m_random.between(isSigned ? -high : least, high);
        if (std::abs(value) >= least && std::gcd(value, coprime) == 1) return value;
    }
}

Rational Draws::number(double entropy) {
    if (coin()) return integer(entropy);
    const double above = uniform(0.0, entropy);
    const std::int64_t numerator = integer(above, true, 1);
    return {numerator, integer(entropy - above, false, 2, numerator)};
}

std::vector<double> Draws::dirichlet(double total, const std::vector<int>& weights) {
    // A gamma variable of a whole order is a sum of exponential ones.
    std::vector<double> values;
    for (const int weight : weights) {
        double gamma = 0.0;
        for (int i = 0; i < weight; ++i) gamma -= std::log(1.0 - m_random.uniform());
        values.push_back(gamma);
    }
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    for (auto& value : values)
        value = sum > 0.0 ? total * value / sum : total / static_cast<double>(values.size());
    return values;
}

std::vector<int> Draws::parts(int count, int sum) {
    // Bars among stars: count - 1 of sum + count - 1 places.
    std::vector<int> places(static_cast<std::size_t>(sum + count - 1));
    std::iota(places.begin(), places.end(), 0);
    m_random.shuffle(places);
    places.resize(static_cast<std::size_t>(count - 1));
    std::sort(places.begin(), places.end());
    places.push_back(sum + count - 1);
    std::vector<int> parts;
    int last = -1;
    for (const int place : places) parts.push_back(place - last - 1), last = place;
    return parts;
}

std::vector<int> Draws::summands(int length, const std::vector<bool>& isZero) {
    const int count = static_cast<int>(isZero.size()),
              needed = static_cast<int>(std::count(isZero.begin(), isZero.end(), false));
    if (length < needed || (length == 1 && needed == 0)) throw Outgrown();
    auto counts = parts(count, length - needed);
    for (std::size_t i = 0; i < isZero.size(); ++i) counts[i] += isZero[i] ? 0 : 1;
    // A single summand of a coefficient 0 would be 0, so it is moved to another coefficient.
    for (;;) {
        std::vector<int> lonely;
        for (int i = 0; i < count; ++i)
            if (isZero[static_cast<std::size_t>(i)] && counts[static_cast<std::size_t>(i)] == 1)
                lonely.push_back(i);
        if (lonely.empty()) return counts;
        const int from = oneOf(lonely);
        std::vector<int> others;
        for (int i = 0; i < count; ++i)
            if (i != from && counts[static_cast<std::size_t>(i)] >= 1) others.push_back(i);
        if (others.empty()) throw Outgrown();
        --counts[static_cast<std::size_t>(from)];
        ++counts[static_cast<std::size_t>(oneOf(others))];
    }
}

std::vector<std::int64_t> Draws::addingUpTo(std::int64_t value, int count, double entropy) {
    if (count == 0) return {};
    if (count == 1) return {value};
    // Terms that differ by the same amount end as the same terms.
    entropy *= static_cast<double>(count) / (count - 1);
    const std::int64_t mean = -floorDivide(-value, count);
    const double least = std::max(1.0, std::log10(5.0 * std::abs(static_cast<double>(mean)) + 1.0));
    std::vector<std::int64_t> terms;
    std::int64_t missing = value;
    for (const double part : dirichlet(entropy, count)) {
        terms.push_back(integer(std::max(least, part)));
        missing = minus(missing, terms.back());
    }
    for (int i = 0; i < count; ++i)
        terms[static_cast<std::size_t>(i)] =
            plus(terms[static_cast<std::size_t>(i)], floorDivide(plus(missing, i), count));
    m_random.shuffle(terms);
    return terms;
}

std::pair<std::int64_t, std::int64_t> Draws::factors(std::int64_t product) {
    if (product == 0) return {1, 0};
    std::int64_t left = 1;
    for (const auto& [prime, power] : primeFactors(product))
        for (int n = between(0, power); n > 0; --n) left *= prime;
    return {left, product / left};
}

double factorEntropy(std::int64_t product) {
    if (product == 0) return 0.0;
    double entropy = 0.0;
    for (const auto& [prime, power] : primeFactors(product)) entropy += std::log10(power + 1.0);
    return entropy;
}

double treeEntropy(int nodes) {
    // The Catalan number.
    double entropy = 0.0;
    for (int k = 2; k <= nodes; ++k)
        entropy += std::log10(static_cast<double>(nodes + k) / static_cast<double>(k));
    return entropy;
}

}  // namespace relascope::datasets::mathematics
