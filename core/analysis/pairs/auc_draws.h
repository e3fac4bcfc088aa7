// SPDX-License-Identifier: GPL-3.0-or-later
// The AUCs of many relations and attributes, place held fixed, in many draws: with the attributes
// of examples exchanged, and with examples drawn with return. Pure numbers: no model, no LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/pairs/relation_statistics.h"

namespace relascope::core {

/// AUCs [relations, attributes, draws]; NaN where no place has both answers.
struct AucDraws {
    std::size_t attributes = 0, draws = 0;
    std::vector<double> auc;

    std::span<const double> of(std::size_t relation, std::size_t attribute) const& {
        return std::span(auc).subspan((relation * attributes + attribute) * draws, draws);
    }
    std::span<const double> of(std::size_t, std::size_t) const&& = delete;
};

/// Relations and attributes with yes and no, of the same pairs.
struct AucSubject {
    PairShape shape;
    std::vector<std::vector<std::uint32_t>> places;  ///< pairPlaces()
    std::vector<SortedPairs> relations;
    std::vector<PairTruth> attributes;
};

/// How draws are followed: gets the fraction done, on one of the threads; returns false to cancel.
using DrawProgress = std::function<bool(double)>;

/// AUCs under permutation: in each draw the examples with the same number in `occupied` exchange
/// their attributes by a random permutation. Throws Cancelled.
AucDraws permutedAucs(const AucSubject& subject, const std::vector<std::int32_t>& occupied,
                      std::size_t draws, std::uint64_t seed, const DrawProgress& progress = {});
/// AUCs of a bootstrap: in each draw the examples are drawn with return (Efron 1979). Throws
/// Cancelled.
AucDraws bootstrappedAucs(const AucSubject& subject, std::size_t draws, std::uint64_t seed,
                          const DrawProgress& progress = {});

/// The 95 % interval of an AUC from such draws: its logit and their standard deviation, since a
/// share of draws covers too little where few pairs are yes. Of an AUC of 0 or 1, which has none,
/// the exact bound of an exception that none of so many examples showed. It contains the AUC. NaN
/// where too few draws have both answers.
std::pair<double, double> aucInterval(double auc, std::span<const double> drawn,
                                      std::size_t examples);

/// Whether the places that are occupied determine the attribute: no permutation among examples with
/// the same number changes it.
bool followsOccupied(const PairShape& shape, PairTruth truth,
                     const std::vector<std::int32_t>& occupied);

}  // namespace relascope::core
