// SPDX-License-Identifier: GPL-3.0-or-later
// The conclusions of an atlas from its numbers, besides labelRelations() (atlas.h). Does not
// include torch.
#pragma once

#include "analysis/atlas.h"

namespace relascope::core {

/// Attributes that a sentence names at most.
inline constexpr std::size_t kMostNamed = 4;

/// An attribute of a label: its name, with "not" where the AUC is below 0.5, and the AUC.
struct NamedAttribute {
    std::int64_t attribute = 0;
    std::string name, words, auc;
    bool holds = true;  ///< its AUC is above 0.5, or the name says the opposite
};
/// The attributes of the label, the first ones of Relation::also behind it.
std::vector<NamedAttribute> namedAttributes(const RelationAtlas& atlas,
                                            const RelationAtlas::Relation& relation);

/// Whether the attribute can be part of a label: p < 0.01, and an AUC at least 0.1 from 0.5.
bool canBeLabel(const RelationAtlas& atlas, const RelationAtlas::Relation& relation,
                std::size_t attribute);

/// Fills Fit::untrained, its range and Fit::exceedsUntrained from RelationAtlas::untrainedFits.
/// Without four models nothing is apart.
void compareWithUntrained(RelationAtlas& atlas);
/// Fills Relation::appearedAfter, appearedBy and development from RelationAtlas::steps.
void findAppearances(RelationAtlas& atlas);

}  // namespace relascope::core
