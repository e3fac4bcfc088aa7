// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/relation_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "model/attention/tile_levels.h"

namespace relascope::core {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr int kSweeps = 20;        // how often means alternate
constexpr int kJacobiSweeps = 60;  // at most; about eight are needed
// The share of |R + R^T|^2 that rounding to float32 leaves as |R - R^T|^2 of a symmetric relation.
constexpr double kRounding = 1e-9;

template <class Action>
void forPairs(const PairShape& shape, PairValues values, Action action) {
    const std::size_t n = shape.objects;
    for (std::size_t e = 0; e < shape.examples; ++e)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < (shape.causal ? i : n); ++j)
                if (i != j) action(e, i, j, static_cast<double>(values[(e * n + i) * n + j]));
}

double ratioOf(double sum, double difference) {
    if (sum == 0.0 && difference == 0.0) return kUnknown;
    if (difference <= kRounding * sum) return std::numeric_limits<double>::infinity();
    return std::sqrt(sum / difference);
}

// Mean ranks of values in ascending order, from 1.
template <class Value>
std::vector<double> meanRanks(const std::vector<Value>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first + 1;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        const double rank = 0.5 * static_cast<double>(first + 1 + end);
        for (; first < end; ++first) ranks[order[first]] = rank;
    }
    return ranks;
}

double correlationOf(const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<double>(a.size());
    const double meanA = std::accumulate(a.begin(), a.end(), 0.0) / n;
    const double meanB = std::accumulate(b.begin(), b.end(), 0.0) / n;
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        ab += (a[k] - meanA) * (b[k] - meanB);
        aa += (a[k] - meanA) * (a[k] - meanA);
        bb += (b[k] - meanB) * (b[k] - meanB);
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : kUnknown;
}

double spearmanOf(const SortedPairs& pairs, std::span<const std::uint32_t> entries,
                  std::span<const float> attribute) {
    if (entries.size() < 2) return kUnknown;
    std::vector<float> r, y;
    r.reserve(entries.size()), y.reserve(entries.size());
    for (const auto entry : entries) {
        if (std::isnan(attribute[entry])) continue;
        r.push_back(pairs.value(entry));
        y.push_back(attribute[entry]);
    }
    return r.size() < 2 ? kUnknown : correlationOf(meanRanks(r), meanRanks(y));
}

// Sums of an AUC over pairs in ascending order, in some strata at once.
template <std::size_t Strata>
struct AucSums {
    std::array<double, Strata> no{}, yes{}, below{};
    std::array<double, Strata> tiedNo{}, tiedYes{};
    float last = kUnknown;

    void add(float value, bool isYes, std::size_t stratum) {
        if (value != last) flush();
        last = value;
        (isYes ? tiedYes : tiedNo)[stratum] += 1.0;
    }
    void flush() {
        for (std::size_t s = 0; s < Strata; ++s) {
            below[s] += tiedYes[s] * (no[s] + 0.5 * tiedNo[s]);
            no[s] += tiedNo[s], yes[s] += tiedYes[s];
            tiedNo[s] = tiedYes[s] = 0.0;
        }
    }
};

double quotient(double sum, double weight) {
    return weight > 0 ? sum / weight : kUnknown;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> pairPlaces(const PairShape& shape) {
    const auto n = static_cast<std::int64_t>(shape.objects);
    std::map<std::int64_t, std::vector<std::uint32_t>> byPlace;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < (shape.causal ? i : n); ++j)
            if (i != j)
                byPlace[shape.byOffset ? j - i : i * n + j].push_back(
                    static_cast<std::uint32_t>(i * n + j));
    std::vector<std::vector<std::uint32_t>> places;
    places.reserve(byPlace.size());
    for (auto& [place, cells] : byPlace) places.push_back(std::move(cells));
    return places;
}

PairDistribution distributionOf(const PairShape& shape, PairValues values) {
    PairDistribution d;
    d.bins.assign(PairDistribution::kBins, 0);
    std::vector<float> all;
    double sum = 0.0, positive = 0.0;
    forPairs(shape, values, [&](auto, auto, auto, double value) {
        all.push_back(static_cast<float>(value));
        sum += value;
        positive += value > 0;
    });
    if (all.empty()) {
        d.mean = d.sd = d.positive = d.low = d.high = kUnknown;
        d.quantiles.fill(kUnknown);
        return d;
    }
    const auto count = static_cast<double>(all.size());
    d.mean = sum / count;
    d.positive = positive / count;
    double squares = 0.0;
    for (const float value : all) squares += (value - d.mean) * (value - d.mean);
    d.sd = std::sqrt(squares / count);
    std::sort(all.begin(), all.end());
    d.low = all.front(), d.high = all.back();
    for (std::size_t q = 0; q < d.quantiles.size(); ++q) {
        const double at = PairDistribution::kQuantiles[q] * (count - 1);
        const auto below = static_cast<std::size_t>(at);
        const auto above = std::min(below + 1, all.size() - 1);
        d.quantiles[q] = all[below] + (at - std::floor(at)) * (all[above] - all[below]);
    }
    const double width = d.high - d.low;
    for (const float value : all) {
        const double at = width > 0 ? (value - d.low) / width : 0.5;
        ++d.bins[std::min(PairDistribution::kBins - 1,
                          static_cast<std::size_t>(at * PairDistribution::kBins))];
    }
    return d;
}

double symmetryRatio(const PairShape& shape, PairValues values) {
    const std::size_t n = shape.objects;
    double sum = 0.0, difference = 0.0;
    for (std::size_t e = 0; e < shape.examples; ++e)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const double a = values[(e * n + i) * n + j], b = values[(e * n + j) * n + i];
                sum += (a + b) * (a + b);
                difference += (a - b) * (a - b);
            }
    return ratioOf(sum, difference);
}

double symmetryRatio(std::span<const double> matrix, std::size_t size) {
    double sum = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) {
            const double a = matrix[i * size + j], b = matrix[j * size + i];
            sum += (a + b) * (a + b);
            difference += (a - b) * (a - b);
        }
    return ratioOf(sum, difference);
}

std::vector<double> singularValues(std::vector<double> matrix, std::size_t rows,
                                   std::size_t columns) {
    // Rows of `matrix` become orthogonal: the fewer they are, the fewer rotations.
    if (rows > columns) {
        std::vector<double> turned(matrix.size());
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                turned[j * rows + i] = matrix[i * columns + j];
        matrix = std::move(turned);
        std::swap(rows, columns);
    }
    const auto dot = [&](std::size_t a, std::size_t b) {
        return std::inner_product(&matrix[a * columns], &matrix[a * columns] + columns,
                                  &matrix[b * columns], 0.0);
    };
    for (int sweep = 0; sweep < kJacobiSweeps; ++sweep) {
        bool rotated = false;
        for (std::size_t a = 0; a + 1 < rows; ++a)
            for (std::size_t b = a + 1; b < rows; ++b) {
                const double aa = dot(a, a), bb = dot(b, b), ab = dot(a, b);
                if (std::abs(ab) <= 1e-14 * std::sqrt(aa * bb) || ab == 0.0) continue;
                rotated = true;
                const double zeta = (bb - aa) / (2.0 * ab);
                const double t =
                    (zeta >= 0 ? 1.0 : -1.0) / (std::abs(zeta) + std::sqrt(1.0 + zeta * zeta));
                const double c = 1.0 / std::sqrt(1.0 + t * t), s = c * t;
                for (std::size_t k = 0; k < columns; ++k) {
                    const double x = matrix[a * columns + k], y = matrix[b * columns + k];
                    matrix[a * columns + k] = c * x - s * y;
                    matrix[b * columns + k] = s * x + c * y;
                }
            }
        if (!rotated) break;
    }
    std::vector<double> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = std::sqrt(dot(i, i));
    std::sort(values.rbegin(), values.rend());
    return values;
}

double effectiveRank(std::span<const double> singular) {
    const double sum = std::accumulate(singular.begin(), singular.end(), 0.0);
    if (!(sum > 0)) return kUnknown;
    double entropy = 0.0;
    for (const double s : singular)
        if (s > 0) entropy -= s / sum * std::log(s / sum);
    return std::exp(entropy);
}

double meanEffectiveRank(const PairShape& shape, PairValues values, std::size_t most) {
    const std::size_t n = shape.objects, wanted = std::min(most, shape.examples);
    double sum = 0.0, count = 0.0;
    std::vector<double> matrix(n * n);
    for (std::size_t k = 0; k < wanted; ++k) {
        const std::size_t e = k * shape.examples / wanted;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                matrix[i * n + j] =
                    shape.causal && j > i ? 0.0 : static_cast<double>(values[(e * n + i) * n + j]);
        const double rank = effectiveRank(singularValues(matrix, n, n));
        if (!std::isnan(rank)) sum += rank, count += 1.0;
    }
    return quotient(sum, count);
}

WeightMatrixFacts weightMatrixFacts(std::span<const double> query, std::span<const double> key,
                                    std::size_t width, std::size_t d) {
    std::vector<double> m(d * d, 0.0);
    for (std::size_t w = 0; w < width; ++w)
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = 0; j < d; ++j) m[i * d + j] += query[w * d + i] * key[w * d + j];
    WeightMatrixFacts facts;
    facts.symmetry = symmetryRatio(m, d);
    if (width >= d) {
        facts.effectiveRank = effectiveRank(singularValues(std::move(m), d, d));
        return facts;
    }
    // Q^T K = (A L)^T K with orthonormal rows A: the singular values are those of L^T K, whose
    // `width` rows cost fewer rotations. Gram and Schmidt, twice for its rounding.
    std::vector<double> a(query.begin(), query.end()), l(width * width, 0.0);
    for (std::size_t w = 0; w < width; ++w) {
        double* row = &a[w * d];
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t v = 0; v < w; ++v) {
                const double along = std::inner_product(row, row + d, &a[v * d], 0.0);
                l[w * width + v] += along;
                for (std::size_t k = 0; k < d; ++k) row[k] -= along * a[v * d + k];
            }
        const double length = std::sqrt(std::inner_product(row, row + d, row, 0.0));
        l[w * width + w] = length;
        for (std::size_t k = 0; k < d; ++k) row[k] = length > 0 ? row[k] / length : 0.0;
    }
    // query = l a, so that Q^T K = a^T (l^T K).
    std::vector<double> small(width * d, 0.0);
    for (std::size_t w = 0; w < width; ++w)
        for (std::size_t v = 0; v <= w; ++v)
            for (std::size_t k = 0; k < d; ++k)
                small[v * d + k] += l[w * width + v] * key[w * d + k];
    facts.effectiveRank = effectiveRank(singularValues(std::move(small), width, d));
    return facts;
}

std::array<double, 5> varianceShares(const PairShape& shape, PairValues values) {
    const std::size_t n = shape.objects, cells = shape.cells();
    const auto taken = [&](std::size_t i, std::size_t j) { return !shape.causal || j < i; };
    const auto placeOf = [&](std::size_t i, std::size_t j) {
        return shape.byOffset ? j + n - 1 - i : i * n + j;
    };
    std::vector<double> place(shape.byOffset ? 2 * n : cells, 0.0), count(place.size(), 0.0);
    double mean = 0.0, pairs = 0.0;
    for (std::size_t e = 0; e < shape.examples; ++e)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                if (taken(i, j)) {
                    const double r = values[e * cells + i * n + j];
                    place[placeOf(i, j)] += r, count[placeOf(i, j)] += 1.0;
                    mean += r, pairs += 1.0;
                }
    std::array<double, 5> sums{};
    mean /= pairs;
    for (std::size_t p = 0; p < place.size(); ++p)
        if (count[p] > 0) {
            place[p] = place[p] / count[p] - mean;
            sums[0] += count[p] * place[p] * place[p];
        }
    std::vector<double> d(cells), a(n), b(n), ofRow(n, 0.0), ofColumn(n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (taken(i, j)) ofRow[i] += 1.0, ofColumn[j] += 1.0;
    const double inExample = std::accumulate(ofRow.begin(), ofRow.end(), 0.0);
    const bool exact = !shape.causal;
    for (std::size_t e = 0; e < shape.examples; ++e) {
        double g = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                if (taken(i, j)) {
                    d[i * n + j] = values[e * cells + i * n + j] - mean - place[placeOf(i, j)];
                    g += d[i * n + j];
                }
        g /= inExample;
        sums[1] += inExample * g * g;
        std::fill(a.begin(), a.end(), 0.0), std::fill(b.begin(), b.end(), 0.0);
        // One sweep fits full matrices exactly: their rows and columns are orthogonal.
        for (int sweep = 0; sweep < (exact ? 1 : kSweeps); ++sweep) {
            std::fill(a.begin(), a.end(), 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j)
                    if (taken(i, j)) a[i] += d[i * n + j] - g - b[j];
                if (ofRow[i] > 0) a[i] /= ofRow[i];
            }
            std::fill(b.begin(), b.end(), 0.0);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    if (taken(i, j)) b[j] += d[i * n + j] - g - a[i];
            for (std::size_t j = 0; j < n; ++j)
                if (ofColumn[j] > 0) b[j] /= ofColumn[j];
        }
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                if (taken(i, j)) {
                    // Together a and b explain sum a d + sum b d; the rest is unexplained.
                    const double left = d[i * n + j] - g;
                    sums[2] += a[i] * left, sums[3] += b[j] * left;
                    sums[4] += left * (left - a[i] - b[j]);
                }
    }
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    for (auto& sum : sums) sum = quotient(sum, total);
    return sums;
}

std::vector<double> correlationWithoutPlace(const PairShape& shape,
                                            std::span<const PairValues> relations) {
    const auto places = pairPlaces(shape);
    const std::size_t count = relations.size(), cells = shape.cells();
    std::vector<double> products(count * count, 0.0), row(count);
    std::vector<double> raw(count, 0.0);  // squares with the mean of the place
    for (const auto& place : places) {
        std::vector<double> mean(count, 0.0);
        const auto pairs = static_cast<double>(place.size() * shape.examples);
        for (std::size_t l = 0; l < count; ++l) {
            for (std::size_t e = 0; e < shape.examples; ++e)
                for (const auto cell : place) mean[l] += relations[l][e * cells + cell];
            mean[l] /= pairs;
        }
        for (std::size_t e = 0; e < shape.examples; ++e)
            for (const auto cell : place) {
                for (std::size_t l = 0; l < count; ++l) {
                    const double r = relations[l][e * cells + cell];
                    raw[l] += r * r;
                    row[l] = r - mean[l];
                }
                for (std::size_t l = 0; l < count; ++l)
                    for (std::size_t k = 0; k <= l; ++k) products[l * count + k] += row[l] * row[k];
            }
    }
    std::vector<double> result(count * count, 0.0);
    // Below this, the variance without place is rounding of float32.
    const auto varies = [&](std::size_t l) {
        return products[l * count + l] > 1e-12 * raw[l] && raw[l] > 0;
    };
    for (std::size_t l = 0; l < count; ++l)
        for (std::size_t k = 0; k <= l; ++k)
            result[l * count + k] = result[k * count + l] =
                varies(l) && varies(k)
                    ? products[l * count + k] /
                          std::sqrt(products[l * count + l] * products[k * count + k])
                    : kUnknown;
    return result;
}

// Nearest-neighbour chains (Benzecri 1982), which find the same tree as joining the closest first.
std::vector<LinkageJoin> averageLinkage(std::span<const double> correlation,
                                        std::size_t relations) {
    std::vector<double> between(correlation.begin(), correlation.end());
    for (double& c : between) c = std::isnan(c) ? 0.0 : std::abs(c);
    std::vector<double> size(relations,
                             1.0);  // of the cluster that this relation stands for; 0: none
    std::vector<LinkageJoin> joins;
    std::vector<std::size_t> chain;
    while (joins.size() + 1 < relations) {
        if (chain.empty())
            chain.push_back(static_cast<std::size_t>(
                std::find_if(size.begin(), size.end(), [](double s) { return s > 0; }) -
                size.begin()));
        const std::size_t last = chain.back();
        const auto to = [&](std::size_t k) { return between[last * relations + k]; };
        // Among equally near clusters the one before `last` is taken, so that the chain ends.
        std::size_t nearest = chain.size() > 1 ? chain[chain.size() - 2] : relations;
        for (std::size_t k = 0; k < relations; ++k)
            if (k != last && size[k] > 0 && (nearest == relations || to(k) > to(nearest)))
                nearest = k;
        if (chain.size() < 2 || nearest != chain[chain.size() - 2]) {
            chain.push_back(nearest);
            continue;
        }
        chain.resize(chain.size() - 2);
        const auto [a, b] = std::minmax(last, nearest);
        joins.push_back({a, b, to(nearest)});
        for (std::size_t k = 0; k < relations; ++k) {
            double& mean = between[a * relations + k];
            mean = (size[a] * mean + size[b] * between[b * relations + k]) / (size[a] + size[b]);
            between[k * relations + a] = mean;
        }
        size[a] += std::exchange(size[b], 0.0);
    }
    std::stable_sort(joins.begin(), joins.end(),
                     [](const auto& a, const auto& b) { return a.correlation > b.correlation; });
    // Members become the clusters that they are in by then.
    std::vector<std::size_t> cluster(relations), of(relations);
    for (std::size_t l = 0; l < relations; ++l) cluster[l] = of[l] = l;
    for (std::size_t k = 0; k < joins.size(); ++k) {
        auto& join = joins[k];
        const auto first = of[join.first], second = of[join.second];
        join.first = cluster[first], join.second = cluster[second];
        for (auto& one : of) one = one == second ? first : one;
        cluster[first] = relations + k;
    }
    return joins;
}

std::vector<int> correlatedGroups(std::span<const LinkageJoin> tree, std::size_t relations,
                                  double threshold) {
    std::vector<std::size_t> cluster(relations);
    for (std::size_t l = 0; l < relations; ++l) cluster[l] = l;
    for (std::size_t k = 0; k < tree.size() && tree[k].correlation >= threshold; ++k)
        for (auto& one : cluster)
            if (one == tree[k].first || one == tree[k].second) one = relations + k;
    std::vector<int> group(relations);
    std::map<std::size_t, int> numbers;
    for (std::size_t l = 0; l < relations; ++l)
        group[l] = numbers.try_emplace(cluster[l], static_cast<int>(numbers.size())).first->second;
    return group;
}

SortedPairs::SortedPairs(const PairShape& shape,
                         const std::vector<std::vector<std::uint32_t>>& places, PairValues values)
    : m_values(values), m_first{0} {
    for (const auto& place : places) {
        const auto begin = static_cast<std::ptrdiff_t>(m_entries.size());
        for (std::size_t e = 0; e < shape.examples; ++e)
            for (const auto cell : place)
                m_entries.push_back(static_cast<std::uint32_t>(e * shape.cells()) + cell);
        std::sort(m_entries.begin() + begin, m_entries.end(),
                  [&](auto a, auto b) { return values[a] < values[b]; });
        m_first.push_back(m_entries.size());
    }
}

std::span<const std::uint32_t> SortedPairs::entries(std::size_t place) const {
    return std::span(m_entries).subspan(m_first[place], m_first[place + 1] - m_first[place]);
}

double plainAuc(const SortedPairs& pairs, PairTruth truth) {
    std::vector<std::uint32_t> defined;
    for (std::size_t p = 0; p < pairs.places(); ++p)
        for (const auto entry : pairs.entries(p))
            if (truth[entry] != kPairUndefined) defined.push_back(entry);
    std::sort(defined.begin(), defined.end(),
              [&](auto a, auto b) { return pairs.value(a) < pairs.value(b); });
    AucSums<1> sums;
    for (const auto entry : defined) sums.add(pairs.value(entry), truth[entry] == kPairYes, 0);
    sums.flush();
    return quotient(sums.below[0], sums.yes[0] * sums.no[0]);
}

double placeFixedAuc(const SortedPairs& pairs, PairTruth truth) {
    double sum = 0.0, weight = 0.0;
    for (std::size_t p = 0; p < pairs.places(); ++p) {
        AucSums<1> sums;
        for (const auto entry : pairs.entries(p))
            if (truth[entry] != kPairUndefined)
                sums.add(pairs.value(entry), truth[entry] == kPairYes, 0);
        sums.flush();
        sum += sums.below[0];
        weight += sums.yes[0] * sums.no[0];
    }
    return quotient(sum, weight);
}

double conditionalAuc(const SortedPairs& pairs, PairTruth truth, PairTruth rival) {
    double sum = 0.0, weight = 0.0;
    for (std::size_t p = 0; p < pairs.places(); ++p) {
        AucSums<2> sums;
        for (const auto entry : pairs.entries(p))
            if (truth[entry] != kPairUndefined && rival[entry] != kPairUndefined)
                sums.add(pairs.value(entry), truth[entry] == kPairYes, rival[entry]);
        sums.flush();
        for (std::size_t s = 0; s < 2; ++s)
            sum += sums.below[s], weight += sums.yes[s] * sums.no[s];
    }
    return quotient(sum, weight);
}

namespace {

// below += yes no, no += its own: one pair in every lane.
RELASCOPE_VECTORS void addPair(float* __restrict below, float* __restrict no,
                               const float* __restrict yesRow, const float* __restrict noRow,
                               std::size_t lanes) {
    for (std::size_t l = 0; l < lanes; ++l) {
        below[l] += yesRow[l] * no[l];
        no[l] += noRow[l];
    }
}

}  // namespace

void addWeightedAuc(const SortedPairs& pairs, std::size_t place,
                    std::span<const std::uint32_t> rowOf, const AucLanes& weights,
                    std::span<double> sums) {
    const std::size_t lanes = weights.lanes;
    std::vector<float> no(lanes, 0.0F), below(lanes, 0.0F), tiedYes(lanes), tiedNo(lanes);
    const auto entries = pairs.entries(place);
    const auto used = [&](std::size_t k) { return rowOf[entries[k]] != kNoRow; };
    std::size_t k = 0;
    while (k < entries.size() && !used(k)) ++k;
    while (k < entries.size()) {
        std::size_t next = k + 1;  // the next pair that counts
        while (next < entries.size() && !used(next)) ++next;
        const float value = pairs.value(entries[k]);
        if (next == entries.size() || pairs.value(entries[next]) != value) {
            const std::size_t row = rowOf[entries[k]] * lanes;
            addPair(below.data(), no.data(), &weights.yes[row], &weights.no[row], lanes);
            k = next;
            continue;
        }
        std::fill(tiedYes.begin(), tiedYes.end(), 0.0F);
        std::fill(tiedNo.begin(), tiedNo.end(), 0.0F);
        for (; k < entries.size() && (!used(k) || pairs.value(entries[k]) == value); ++k) {
            if (!used(k)) continue;
            const std::size_t row = rowOf[entries[k]] * lanes;
            for (std::size_t l = 0; l < lanes; ++l) {
                tiedYes[l] += weights.yes[row + l];
                tiedNo[l] += weights.no[row + l];
            }
        }
        for (std::size_t l = 0; l < lanes; ++l) {
            below[l] += tiedYes[l] * (no[l] + 0.5F * tiedNo[l]);
            no[l] += tiedNo[l];
        }
    }
    for (std::size_t l = 0; l < lanes; ++l) sums[l] += static_cast<double>(below[l]);
}

double plainSpearman(const SortedPairs& pairs, std::span<const float> attribute) {
    std::vector<std::uint32_t> all;
    for (std::size_t p = 0; p < pairs.places(); ++p) {
        const auto entries = pairs.entries(p);
        all.insert(all.end(), entries.begin(), entries.end());
    }
    return spearmanOf(pairs, all, attribute);
}

double placeFixedSpearman(const SortedPairs& pairs, std::span<const float> attribute) {
    double sum = 0.0, weight = 0.0;
    for (std::size_t p = 0; p < pairs.places(); ++p) {
        const auto entries = pairs.entries(p);
        const double rho = spearmanOf(pairs, entries, attribute);
        if (std::isnan(rho)) continue;
        sum += rho * static_cast<double>(entries.size());
        weight += static_cast<double>(entries.size());
    }
    return quotient(sum, weight);
}

}  // namespace relascope::core
