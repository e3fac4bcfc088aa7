// SPDX-License-Identifier: GPL-3.0-or-later
// The plain form of PairMoments::explained().
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "analysis/pairs/relation_statistics.h"

namespace relascope::testing_support {

using core::pairPlaces;
using core::PairShape;
using core::PairValues;

// Solves A X = B for a positive A [n, n] and B [n, m], both row-major, by Cholesky; X is in B.
inline void solve(std::vector<double>& a, std::vector<double>& b, std::size_t n, std::size_t m) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / a[j * n + j];
        }
    for (std::size_t column = 0; column < m; ++column) {
        for (std::size_t i = 0; i < n; ++i) {
            double sum = b[i * m + column];
            for (std::size_t k = 0; k < i; ++k) sum -= a[i * n + k] * b[k * m + column];
            b[i * m + column] = sum / a[i * n + i];
        }
        for (std::size_t i = n; i-- > 0;) {
            double sum = b[i * m + column];
            for (std::size_t k = i + 1; k < n; ++k) sum -= a[k * n + i] * b[k * m + column];
            b[i * m + column] = sum / a[i * n + i];
        }
    }
}

/// R^2 of a linear map from the others to the relations, the mean of each place removed: fitted on
/// every second example, measured on the rest, averaged over the relations. NaN for fewer than four
/// examples and where no relation varies.
inline double explainedByOthers(const PairShape& shape, std::span<const PairValues> relations,
                                std::span<const PairValues> others) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    if (shape.examples < 4 || relations.empty() || others.empty()) return unknown;
    const std::size_t n = others.size(), m = relations.size(), all = n + m, cells = shape.cells();
    const auto valueOf = [&](std::size_t k, std::size_t at) {
        return static_cast<double>(k < n ? others[k][at] : relations[k - n][at]);
    };
    const auto places = pairPlaces(shape);
    std::vector<std::vector<double>> means;  // [places][all], of the fitted half
    std::vector<double> gram(n * n, 0.0), right(n * m, 0.0), row(all);
    const auto centred = [&](const std::vector<double>& mean, std::size_t at) {
        for (std::size_t k = 0; k < all; ++k) row[k] = valueOf(k, at) - mean[k];
    };
    for (const auto& place : places) {
        std::vector<double> mean(all, 0.0);
        double count = 0.0;
        for (std::size_t e = 0; e < shape.examples; e += 2)
            for (const auto cell : place) {
                for (std::size_t k = 0; k < all; ++k) mean[k] += valueOf(k, e * cells + cell);
                count += 1.0;
            }
        for (auto& one : mean) one /= count;
        for (std::size_t e = 0; e < shape.examples; e += 2)
            for (const auto cell : place) {
                centred(mean, e * cells + cell);
                for (std::size_t i = 0; i < n; ++i) {
                    for (std::size_t j = 0; j < n; ++j) gram[i * n + j] += row[i] * row[j];
                    for (std::size_t j = 0; j < m; ++j) right[i * m + j] += row[i] * row[n + j];
                }
            }
        means.push_back(std::move(mean));
    }
    double trace = 0.0;
    for (std::size_t i = 0; i < n; ++i) trace += gram[i * n + i];
    if (!(trace > 0)) return unknown;
    for (std::size_t i = 0; i < n; ++i) gram[i * n + i] += 1e-9 * trace / static_cast<double>(n);
    solve(gram, right, n, m);
    std::vector<double> left(m, 0.0), total(m, 0.0);
    for (std::size_t p = 0; p < places.size(); ++p)
        for (std::size_t e = 1; e < shape.examples; e += 2)
            for (const auto cell : places[p]) {
                centred(means[p], e * cells + cell);
                for (std::size_t j = 0; j < m; ++j) {
                    double predicted = 0.0;
                    for (std::size_t i = 0; i < n; ++i) predicted += row[i] * right[i * m + j];
                    left[j] += std::pow(row[n + j] - predicted, 2);
                    total[j] += row[n + j] * row[n + j];
                }
            }
    double sum = 0.0, counted = 0.0;
    for (std::size_t j = 0; j < m; ++j)
        if (total[j] > 0) sum += 1.0 - left[j] / total[j], counted += 1.0;
    return counted > 0 ? sum / counted : unknown;
}

}  // namespace relascope::testing_support
