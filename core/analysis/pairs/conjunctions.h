// SPDX-License-Identifier: GPL-3.0-or-later
// Conjunctions of attributes of pairs: "same colour and same shape", "same colour and not same
// size" (interventions.md section 7). Pure numbers: no model, no LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/pairs/pair_attributes.h"
#include "analysis/pairs/relation_statistics.h"

namespace relascope::core {

/// Attributes with yes and no that hold, or do not hold, together.
struct Conjunction {
    std::vector<std::pair<std::size_t, bool>> members;  ///< attribute, and whether it holds
    bool operator==(const Conjunction&) const = default;
};

/// "same colour and not same size".
std::string conjunctionName(const std::vector<PairAttribute>& attributes,
                            const Conjunction& conjunction);
/// Whether all members are as they should be. Not defined where a member is not defined, and the
/// others are as they should be.
PairAttribute conjunctionOf(const std::vector<PairAttribute>& attributes,
                            const Conjunction& conjunction);

struct AskedConjunctions {
    std::vector<Conjunction> promising;  ///< the best first
    /// How many different ones were asked, of each map: a p of one is multiplied by so many.
    std::size_t asked = 0;
};
/// Asks all conjunctions of two of the attributes `of`, and of the ten that maps tell best, all of
/// three of which at most one does not hold. Promising are those that a map tells clearly better
/// than any of `of` alone, at most two a map and `most` in all. Asked are the pairs of the first
/// `shape.examples` examples, of `values` [maps][examples, objects, objects]. Those that are the
/// same on all pairs as an attribute, or as another conjunction, are not asked again.
AskedConjunctions promisingConjunctions(const PairShape& shape,
                                        const std::vector<std::vector<float>>& values,
                                        const std::vector<PairAttribute>& attributes,
                                        const std::vector<std::size_t>& of, std::size_t most);

/// The number of the attribute with that name. A name of several attributes, joined by "and" or
/// "and not", is added to them as a conjunction. npos: there is no such attribute.
std::size_t attributeNamed(PairAttributes& attributes, const std::string& name);

}  // namespace relascope::core
