// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/relation_matching.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace relascope::core {
namespace {

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

}  // namespace relascope::core
