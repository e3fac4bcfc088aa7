// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/relation_matching.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace relascope::core {
namespace {

constexpr double kRidge = 1e-9;  // of the mean square, against relations that are alike

// The columns of the cheapest assignment of rows to different columns; rows <= columns. Potentials
// and shortest augmenting paths (Jonker and Volgenant 1987); everything counts from 1, 0 is free.
std::vector<std::size_t> cheapest(const std::vector<double>& cost, std::size_t rows,
                                  std::size_t columns) {
    const double far = std::numeric_limits<double>::infinity();
    std::vector<double> u(rows + 1, 0.0), v(columns + 1, 0.0);
    std::vector<std::size_t> rowOf(columns + 1, 0), way(columns + 1, 0);
    for (std::size_t row = 1; row <= rows; ++row) {
        rowOf[0] = row;
        std::vector<double> least(columns + 1, far);
        std::vector<bool> done(columns + 1, false);
        std::size_t at = 0;
        do {
            done[at] = true;
            std::size_t next = 0;
            double step = far;
            for (std::size_t c = 1; c <= columns; ++c) {
                if (done[c]) continue;
                const double reduced =
                    cost[(rowOf[at] - 1) * columns + c - 1] - u[rowOf[at]] - v[c];
                if (reduced < least[c]) least[c] = reduced, way[c] = at;
                if (least[c] < step) step = least[c], next = c;
            }
            for (std::size_t c = 0; c <= columns; ++c)
                if (done[c])
                    u[rowOf[c]] += step, v[c] -= step;
                else
                    least[c] -= step;
            at = next;
        } while (rowOf[at] != 0);
        for (; at != 0; at = way[at]) rowOf[at] = rowOf[way[at]];
    }
    std::vector<std::size_t> columnOf(rows, 0);
    for (std::size_t c = 1; c <= columns; ++c)
        if (rowOf[c] != 0) columnOf[rowOf[c] - 1] = c - 1;
    return columnOf;
}

// Solves A X = B for a positive A [n, n] and B [n, m], both row-major, by Cholesky; X is in B.
void solve(std::vector<double>& a, std::vector<double>& b, std::size_t n, std::size_t m) {
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

}  // namespace

RelationMatching matchRelations(std::span<const double> correlation, std::size_t relations,
                                std::size_t others) {
    RelationMatching result;
    const std::size_t columns = std::max(relations, others);
    const auto strength = [&](std::size_t r, std::size_t o) {
        const double c = o < others ? std::abs(correlation[r * others + o]) : 0.0;
        return std::isnan(c) ? 0.0 : c;
    };
    std::vector<double> cost(relations * columns);
    for (std::size_t r = 0; r < relations; ++r)
        for (std::size_t o = 0; o < columns; ++o) cost[r * columns + o] = -strength(r, o);
    result.partner = cheapest(cost, relations, columns);
    const auto pairs = static_cast<double>(std::min(relations, others));
    const auto meanOf = [&](const std::vector<std::size_t>& partner) {
        double sum = 0.0;
        for (std::size_t r = 0; r < relations; ++r) sum += strength(r, partner[r]);
        return sum / pairs;
    };
    result.matched = meanOf(result.partner);
    double all = 0.0;
    for (std::size_t r = 0; r < relations; ++r)
        for (std::size_t o = 0; o < others; ++o) all += strength(r, o);
    result.meanOfAllPairs = all / static_cast<double>(relations * others);
    for (auto& partner : result.partner)
        if (partner >= others) partner = RelationMatching::kNone;
    return result;
}

double explainedByOthers(const PairShape& shape, std::span<const PairValues> relations,
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
    for (std::size_t i = 0; i < n; ++i) gram[i * n + i] += kRidge * trace / static_cast<double>(n);
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

}  // namespace relascope::core
