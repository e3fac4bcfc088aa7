// SPDX-License-Identifier: GPL-3.0-or-later
// Polynomials of up to four variables, as the mathematics questions draw and write them.
#pragma once

#include <string>
#include <vector>

#include "datasets/generators/math/draws.h"

namespace relascope::datasets::mathematics {

/// Coefficients by the powers of the variables, row-major: shape[i] powers, 0 .. shape[i] - 1, of
/// variable i.
struct Polynomial {
    std::vector<int> shape;
    std::vector<Rational> values;

    Polynomial() = default;
    /// All coefficients 0.
    explicit Polynomial(std::vector<int> shape);
    /// Of one variable, by ascending power.
    explicit Polynomial(const std::vector<std::int64_t>& coefficients);

    std::size_t index(const std::vector<int>& powers) const;
    std::vector<int> powers(std::size_t index) const;
    /// Of one variable: without leading zeros.
    Polynomial trimmed() const;
    bool isInteger() const;
    bool isZero() const;
    bool operator==(const Polynomial&) const = default;
};

/// Of one variable.
Polynomial operator+(const Polynomial& a, const Polynomial& b);
Polynomial operator*(const Polynomial& a, const Polynomial& b);
/// Of one variable: the highest power with a coefficient; 0 where there is none.
int degreeOf(const Polynomial& p);

/// The derivative along a variable, and the antiderivative without a constant.
Polynomial derivative(const Polynomial& p, int variable);
Polynomial antiderivative(const Polynomial& p, int variable);

/// Integer coefficients that split the entropy: every variable reaches its degree, `least` to
/// `most` of them are not 0; most = 0 stands for one more than the least for every two digits of
/// entropy.
Polynomial randomPolynomial(Draws& draws, const std::vector<int>& degrees, double entropy,
                            int least = 0, int most = 0);

/// As answers are written: powers descending, variables in the order of the alphabet, "2*x**2*y/3 -
/// x + 1"; "0". As in the published generator, a positive number comes before a single negative
/// term: "3 - x".
std::string textOf(const Polynomial& p, const std::vector<std::string>& variables);

}  // namespace relascope::datasets::mathematics
