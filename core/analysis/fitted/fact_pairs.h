// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of objects that have a fact or not, as relations are fitted to them
// (interventions.md section 18): which of them count, how they are weighted, and how well numbers
// tell them apart. Does not include torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/pairs/relation_statistics.h"

namespace relascope::core {

/// What an example is used for.
inline constexpr std::uint8_t kToFit = 0, kToChoose = 1, kToTest = 2;

/// The fact of all pairs of objects of some examples.
struct FactPairs {
    std::size_t examples = 0, objects = 0;
    std::vector<std::uint8_t> truth;  ///< [examples, objects, objects] as PairTruth
    std::vector<std::uint8_t> part;   ///< [examples, objects]: 1 where the object takes part
    std::vector<std::uint8_t> split;  ///< [examples]: kToFit, kToChoose or kToTest
    /// [objects, objects]: the stratum of a pair, from 0. Pairs are compared within it.
    std::vector<std::int32_t> stratum;
    std::int32_t strata = 0;

    std::size_t cell(std::size_t e, std::size_t i, std::size_t j) const {
        return (e * objects + i) * objects + j;
    }
    PairShape shape() const { return {examples, objects, false, false}; }
};

/// Pairs of one split, a number each, in the order of examples, receivers and senders.
struct PairList {
    std::vector<std::int32_t> example, i, j, stratum;
    std::vector<std::uint8_t> yes;  ///< 1: the fact holds

    std::size_t size() const { return yes.size(); }
    std::int64_t count(bool answer) const;
};
/// The pairs of a split. `half`: only those with i < j, for forms that give both the same.
PairList pairsOf(const FactPairs& facts, std::uint8_t split, bool half);

/// The strata of pairs of objects, [objects, objects].
std::vector<std::int32_t> strataOfGrid(std::size_t objects, std::size_t columns);
std::vector<std::int32_t> strataOfOffsets(std::size_t objects);
std::vector<std::int32_t> strataOfPlaces(std::size_t objects);

/// Examples are left out, chosen by `seed`, until each split has at most `most` pairs: their truth
/// becomes undefined. Returns how many were left out.
std::size_t limitPairs(FactPairs& facts, std::size_t most, bool half, std::uint64_t seed);

/// The weights of pairs: within each stratum, and within each example, those of yes and no have the
/// same sum; all together have 1. Pairs of groups with one answer alone have 0. 100 sweeps of
/// iterative scaling (Deming and Stephan 1940). Empty where nothing is left.
std::vector<double> balancedWeights(const PairList& pairs);

/// P(r_yes > r_no) + half of the ties, within groups, weighted by n_yes n_no. NaN where no group
/// has both.
double aucWithin(std::span<const double> values, const PairList& pairs,
                 std::span<const std::int32_t> group);

/// What the place of a pair alone says, for each pair of `of`: the share of yes at (i, j) among the
/// pairs `from`, drawn to its stratum's by 5 pairs. `objects`: of an example.
std::vector<double> placeScores(const PairList& from, const PairList& of, std::size_t objects);

/// AUCs within strata on one split, and their draws by example, the same for all.
struct TestedAucs {
    struct One {
        double auc = 0.0, low = 0.0, high = 0.0;  ///< with its 95 % interval
        std::vector<double> drawn;
    };
    std::vector<One> all;
    /// The 95 % interval of the difference of two AUCs, by the same draws.
    std::pair<double, double> difference(std::size_t a, std::size_t b) const;
};
/// `values`: of each relation the numbers of the pairs.
TestedAucs testedAucs(const FactPairs& facts, const PairList& pairs,
                      const std::vector<std::vector<double>>& values, std::size_t draws,
                      std::uint64_t seed);

}  // namespace relascope::core
