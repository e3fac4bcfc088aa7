// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of relations: a number r_ij for each pair of objects of many examples, where row i
// receives and column j sends. Pure numbers: no model, no LibTorch. All sums are in double
// precision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace relascope::core {

/// The pairs that relations are measured on.
struct PairShape {
    std::size_t examples = 0, objects = 0;
    bool causal = false;    ///< only pairs with j < i
    bool byOffset = false;  ///< the place of a pair is j - i (text), else (i, j)

    std::size_t cells() const { return objects * objects; }
    std::size_t values() const { return examples * cells(); }
    bool operator==(const PairShape&) const = default;
};

/// Values of one relation, [examples, objects, objects].
using PairValues = std::span<const float>;

/// An attribute of pairs, of the same shape.
using PairTruth = std::span<const std::uint8_t>;
inline constexpr std::uint8_t kPairNo = 0, kPairYes = 1, kPairUndefined = 2;

/// Cells i * objects + j of pairs i != j (causal: j < i), by their place.
std::vector<std::vector<std::uint32_t>> pairPlaces(const PairShape& shape);

// The distribution of the values
// -------------------------------------------------------------------------------------------------

struct PairDistribution {
    static constexpr std::array<double, 7> kQuantiles = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};
    static constexpr std::size_t kBins = 64;

    double mean = 0.0, sd = 0.0;  ///< sd: of the population
    double positive = 0.0;        ///< share of values above 0
    double low = 0.0, high = 0.0;
    std::array<double, 7> quantiles{};  ///< linear between neighbouring values
    std::vector<std::int64_t> bins;     ///< kBins of equal width from `low` to `high`
};
/// Over pairs i != j (causal: j < i). NaN without any.
PairDistribution distributionOf(const PairShape& shape, PairValues values);

/// sqrt(sum |R + R^T|^2 / sum |R - R^T|^2) over all pairs i != j, causal or not; infinity where R
/// and R^T differ by rounding alone, NaN where all values are 0.
double symmetryRatio(const PairShape& shape, PairValues values);
/// The symmetry ratio of one square matrix, [size, size] row-major.
double symmetryRatio(std::span<const double> matrix, std::size_t size);

/// Singular values of a matrix [rows, columns] row-major, descending (one-sided Jacobi).
std::vector<double> singularValues(std::vector<double> matrix, std::size_t rows,
                                   std::size_t columns);
/// exp(-sum p ln p) with p = s / sum s (Roy and Vetterli 2007); NaN if all are 0.
double effectiveRank(std::span<const double> singular);
/// The effective rank of the matrices R, averaged over at most `most` examples, evenly spread;
/// causal matrices are taken for j <= i.
double meanEffectiveRank(const PairShape& shape, PairValues values, std::size_t most);
/// M = Q^T K of projections Q, K [width, d] row-major, as x_i^T M x_j = r_ij up to a factor.
struct WeightMatrixFacts {
    double effectiveRank = 0.0, symmetry = 0.0;
};
WeightMatrixFacts weightMatrixFacts(std::span<const double> query, std::span<const double> key,
                                    std::size_t width, std::size_t d);

/// Shares of the variance of r = mean + P_place + g_e + a_ei + b_ej + rest, in this order; they add
/// to 1. P is the mean over the examples. Exact for full matrices, diagonal included; for causal
/// ones, and where places are offsets, a and b are fitted by 20 sweeps of alternating means and
/// share what they explain together, as parts of their common fit. NaN for a constant relation.
std::array<double, 5> varianceShares(const PairShape& shape, PairValues values);

/// Correlation of relations over pairs i != j (causal: j < i), the mean of each place removed;
/// [relations, relations]. NaN beside a relation that place alone determines.
std::vector<double> correlationWithoutPlace(const PairShape& shape,
                                            std::span<const PairValues> relations);
/// Two clusters that an average-linkage tree joins. Numbers below `relations` are relations, and
/// `relations` + k is the cluster that join k made.
struct LinkageJoin {
    std::size_t first = 0, second = 0;
    double correlation = 0.0;  ///< mean |correlation| between them
};
/// The tree of relations by |correlation| [relations, relations], the closest clusters first; NaN
/// counts as 0.
std::vector<LinkageJoin> averageLinkage(std::span<const double> correlation, std::size_t relations);
/// The group of each relation: clusters of that tree, joined while their correlation is at least
/// `threshold`, and numbered from 0 in the order of their first members.
std::vector<int> correlatedGroups(std::span<const LinkageJoin> tree, std::size_t relations,
                                  double threshold);

// Attributes
// -------------------------------------------------------------------------------------------------

/// The values of one relation, sorted within each place: AUCs of many attributes come from it.
class SortedPairs {
public:
    SortedPairs(const PairShape& shape, const std::vector<std::vector<std::uint32_t>>& places,
                PairValues values);
    /// Indices of values in ascending order.
    std::span<const std::uint32_t> entries(std::size_t place) const;
    std::size_t places() const { return m_first.size() - 1; }
    float value(std::uint32_t entry) const { return m_values[entry]; }

private:
    PairValues m_values;
    std::vector<std::uint32_t> m_entries;
    std::vector<std::size_t> m_first;
};

/// P(r_yes > r_no) + half of the ties, over all pairs i != j; NaN without both answers.
double plainAuc(const SortedPairs& pairs, PairTruth truth);
/// The mean of the AUCs within each place, weighted by n_yes n_no.
double placeFixedAuc(const SortedPairs& pairs, PairTruth truth);
/// The mean of the AUCs within each place and each answer of a rival attribute. NaN where no place
/// has both answers.
double conditionalAuc(const SortedPairs& pairs, PairTruth truth, PairTruth rival);

/// Weights of yes and no for some pairs of one place, in many variants ("lanes"): draws of a
/// bootstrap, or permutations. Row k of [rows, lanes] belongs to the pair with rowOf = k.
struct AucLanes {
    std::size_t lanes = 0;
    std::vector<float> yes, no;
};
inline constexpr std::uint32_t kNoRow = 0xffffffffU;
/// Adds, for each lane, sum over yes of (the weight of no below + half of equal ones), which is
/// n_yes n_no AUC of the place. `rowOf` has kNoRow for pairs that are left out.
void addWeightedAuc(const SortedPairs& pairs, std::size_t place,
                    std::span<const std::uint32_t> rowOf, const AucLanes& weights,
                    std::span<double> sums);

/// Spearman's correlation of a relation with an ordered attribute [examples, objects, objects] over
/// all pairs i != j, with mean ranks of ties; NaN where either is constant.
double plainSpearman(const SortedPairs& pairs, std::span<const float> attribute);
/// The mean of Spearman's correlations within each place, weighted by the number of pairs.
double placeFixedSpearman(const SortedPairs& pairs, std::span<const float> attribute);

}  // namespace relascope::core
