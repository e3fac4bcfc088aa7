// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/fact_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "analysis/pairs/auc_draws.h"
#include "data/batches.h"

namespace relascope::core {
namespace {

constexpr int kBalanceSweeps = 100;
constexpr double kDrawnToStratum = 5.0;  // pairs
constexpr double kNoAuc = std::numeric_limits<double>::quiet_NaN();

std::int32_t groupsOf(std::span<const std::int32_t> group) {
    return group.empty() ? 0 : 1 + *std::max_element(group.begin(), group.end());
}

/// Calls `add` with i and j of each pair of an example that counts.
template <class Add>
void eachPair(const FactPairs& facts, std::size_t e, bool half, Add add) {
    for (std::size_t i = 0; i < facts.objects; ++i)
        for (std::size_t j = half ? i + 1 : 0; j < facts.objects; ++j)
            if (i != j && facts.truth[facts.cell(e, i, j)] != kPairUndefined) add(i, j);
}

}  // namespace

std::int64_t PairList::count(bool answer) const {
    return std::count(yes.begin(), yes.end(), answer ? 1 : 0);
}

PairList pairsOf(const FactPairs& facts, std::uint8_t split, bool half) {
    PairList pairs;
    for (std::size_t e = 0; e < facts.examples; ++e) {
        if (facts.split[e] != split) continue;
        eachPair(facts, e, half, [&](std::size_t i, std::size_t j) {
            pairs.example.push_back(static_cast<std::int32_t>(e));
            pairs.i.push_back(static_cast<std::int32_t>(i));
            pairs.j.push_back(static_cast<std::int32_t>(j));
            pairs.stratum.push_back(facts.stratum[i * facts.objects + j]);
            pairs.yes.push_back(facts.truth[facts.cell(e, i, j)] == kPairYes ? 1 : 0);
        });
    }
    return pairs;
}

std::vector<std::int32_t> strataOfGrid(std::size_t objects, std::size_t columns) {
    const auto wide = static_cast<std::int32_t>(columns),
               high = static_cast<std::int32_t>((objects + columns - 1) / columns);
    std::vector<std::int32_t> strata;
    const auto n = static_cast<std::int32_t>(objects);
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            strata.push_back((i / wide - j / wide + high - 1) * (2 * wide - 1) +
                             (i % wide - j % wide + wide - 1));
    return strata;
}

std::vector<std::int32_t> strataOfOffsets(std::size_t objects) {
    std::vector<std::int32_t> strata;
    const auto n = static_cast<std::int32_t>(objects);
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) strata.push_back(j - i + n - 1);
    return strata;
}

std::vector<std::int32_t> strataOfPlaces(std::size_t objects) {
    std::vector<std::int32_t> strata(objects * objects);
    std::iota(strata.begin(), strata.end(), 0);
    return strata;
}

std::size_t limitPairs(FactPairs& facts, std::size_t most, bool half, std::uint64_t seed) {
    std::size_t left = 0;
    const auto order = shuffledOrder(static_cast<std::int64_t>(facts.examples), seed, 1);
    std::size_t pairs[3] = {0, 0, 0};
    for (const auto index : order) {
        const auto e = static_cast<std::size_t>(index);
        std::size_t own = 0;
        eachPair(facts, e, half, [&](std::size_t, std::size_t) { ++own; });
        auto& all = pairs[facts.split[e]];
        if (all + own <= most || all == 0) {
            all += own;
            continue;
        }
        ++left;
        const auto first = facts.truth.begin() + static_cast<std::ptrdiff_t>(facts.cell(e, 0, 0));
        std::fill_n(first, facts.objects * facts.objects, kPairUndefined);
        std::fill_n(facts.part.begin() + static_cast<std::ptrdiff_t>(e * facts.objects),
                    facts.objects, std::uint8_t{0});
    }
    return left;
}

std::vector<double> balancedWeights(const PairList& pairs) {
    std::vector<double> weights(pairs.size(), 1.0);
    const auto scale = [&](std::span<const std::int32_t> group) {
        const auto count = static_cast<std::size_t>(groupsOf(group));
        std::vector<double> sums[2] = {std::vector<double>(count, 0.0),
                                       std::vector<double>(count, 0.0)};
        for (std::size_t p = 0; p < pairs.size(); ++p)
            sums[pairs.yes[p]][static_cast<std::size_t>(group[p])] += weights[p];
        std::vector<double> factor(count, 0.0);
        for (std::size_t g = 0; g < count; ++g)
            if (sums[0][g] > 0.0 && sums[1][g] > 0.0)
                factor[g] = std::sqrt(sums[0][g] / sums[1][g]);
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            const double by = factor[static_cast<std::size_t>(group[p])];
            weights[p] *= by == 0.0 ? 0.0 : pairs.yes[p] ? by : 1.0 / by;
        }
    };
    for (int sweep = 0; sweep < kBalanceSweeps; ++sweep) scale(pairs.stratum), scale(pairs.example);
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!(all > 0.0)) return {};
    for (auto& weight : weights) weight /= all;
    return weights;
}

double aucWithin(std::span<const double> values, const PairList& pairs,
                 std::span<const std::int32_t> group) {
    std::vector<std::uint32_t> order(pairs.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        return group[a] != group[b] ? group[a] < group[b] : values[a] < values[b];
    });
    double below = 0.0, weight = 0.0;
    for (std::size_t k = 0; k < order.size();) {
        const auto g = group[order[k]];
        double yes = 0.0, no = 0.0, sum = 0.0;
        while (k < order.size() && group[order[k]] == g) {
            const double value = values[order[k]];
            double counts[2] = {0.0, 0.0};
            for (; k < order.size() && group[order[k]] == g && values[order[k]] == value; ++k)
                ++counts[pairs.yes[order[k]]];
            sum += counts[1] * (no + 0.5 * counts[0]);
            no += counts[0], yes += counts[1];
        }
        below += sum, weight += yes * no;
    }
    return weight > 0.0 ? below / weight : kNoAuc;
}

std::vector<double> placeScores(const PairList& from, const PairList& of, std::size_t objects) {
    const auto strata =
        static_cast<std::size_t>(std::max(groupsOf(from.stratum), groupsOf(of.stratum)));
    std::vector<double> all(objects * objects, 0.0), yes = all;
    std::vector<double> stratumAll(strata, 0.0), stratumYes = stratumAll;
    const auto cellOf = [&](const PairList& pairs, std::size_t p) {
        return static_cast<std::size_t>(pairs.i[p]) * objects +
               static_cast<std::size_t>(pairs.j[p]);
    };
    for (std::size_t p = 0; p < from.size(); ++p) {
        const auto cell = cellOf(from, p), stratum = static_cast<std::size_t>(from.stratum[p]);
        all[cell] += 1.0, yes[cell] += from.yes[p];
        stratumAll[stratum] += 1.0, stratumYes[stratum] += from.yes[p];
    }
    std::vector<double> scores;
    scores.reserve(of.size());
    for (std::size_t p = 0; p < of.size(); ++p) {
        const auto cell = cellOf(of, p), stratum = static_cast<std::size_t>(of.stratum[p]);
        const double share = stratumYes[stratum] / std::max(1.0, stratumAll[stratum]);
        scores.push_back((yes[cell] + kDrawnToStratum * share) / (all[cell] + kDrawnToStratum));
    }
    return scores;
}

std::pair<double, double> TestedAucs::difference(std::size_t a, std::size_t b) const {
    std::vector<double> drawn;
    for (std::size_t k = 0; k < all[a].drawn.size(); ++k)
        drawn.push_back(all[a].drawn[k] - all[b].drawn[k]);
    std::sort(drawn.begin(), drawn.end());
    if (drawn.empty() || !std::isfinite(drawn.back())) return {kNoAuc, kNoAuc};
    const auto at = [&](double share) {
        return drawn[static_cast<std::size_t>(
            std::lround(share * static_cast<double>(drawn.size() - 1)))];
    };
    return {at(0.025), at(0.975)};
}

TestedAucs testedAucs(const FactPairs& facts, const PairList& pairs,
                      const std::vector<std::vector<double>>& values, std::size_t draws,
                      std::uint64_t seed) {
    // Only examples with pairs, so that an interval is not of examples that show nothing.
    std::map<std::int32_t, std::size_t> number;
    for (const auto e : pairs.example) number.emplace(e, number.size());
    const PairShape shape{number.size(), facts.objects, false, false};
    std::vector<std::uint8_t> truth(shape.values(), kPairUndefined);
    std::vector<std::vector<float>> dense(values.size(), std::vector<float>(shape.values(), 0.0F));
    std::vector<std::vector<std::uint32_t>> places(static_cast<std::size_t>(facts.strata));
    std::vector<std::uint8_t> placed(shape.cells(), 0);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto cell = static_cast<std::size_t>(pairs.i[p]) * facts.objects +
                          static_cast<std::size_t>(pairs.j[p]);
        const auto at = number.at(pairs.example[p]) * shape.cells() + cell;
        truth[at] = pairs.yes[p] ? kPairYes : kPairNo;
        for (std::size_t v = 0; v < values.size(); ++v)
            dense[v][at] = static_cast<float>(values[v][p]);
        if (!placed[cell]) {
            placed[cell] = 1;
            places[static_cast<std::size_t>(pairs.stratum[p])].push_back(
                static_cast<std::uint32_t>(cell));
        }
    }
    AucSubject subject;
    subject.shape = shape, subject.places = std::move(places);
    for (const auto& one : dense) subject.relations.emplace_back(shape, subject.places, one);
    subject.attributes.emplace_back(truth);
    const auto drawn = bootstrappedAucs(subject, draws, seed);
    TestedAucs tested;
    for (std::size_t v = 0; v < values.size(); ++v) {
        TestedAucs::One one;
        one.auc = aucWithin(values[v], pairs, pairs.stratum);
        const auto own = drawn.of(v, 0);
        one.drawn.assign(own.begin(), own.end());
        std::tie(one.low, one.high) = aucInterval(one.auc, own, shape.examples);
        tested.all.push_back(std::move(one));
    }
    return tested;
}

}  // namespace relascope::core
