// SPDX-License-Identifier: GPL-3.0-or-later
// The conclusions of an atlas from its numbers, besides labelRelations() (atlas.h). Does not
// include torch.
#pragma once

#include "analysis/atlas/atlas.h"

namespace relascope::core {

/// Attributes that a sentence names at most.
inline constexpr std::size_t kMostNamed = 4;

/// An attribute of a label. Numbers are those of its words: of an AUC below 0.5 the opposite, so
/// that they are above 0.5.
struct NamedAttribute {
    std::int64_t attribute = 0;
    std::string name, words;  ///< "same object", "not same object"
    bool holds = true;        ///< the words have no "not"
    double auc = 0.0, low = 0.0, high = 0.0;
    double untrainedLow = 0.0, untrainedHigh = 0.0, initial = 0.0;  ///< NaN: not measured
    std::string origin;  ///< "learned", "inborn"; empty: neither is shown
};
/// The attributes of the label, the first ones of Relation::also behind it.
std::vector<NamedAttribute> namedAttributes(const RelationAtlas& atlas,
                                            const RelationAtlas::Relation& relation);
/// Some attribute of the map as a label would have it.
NamedAttribute namedAttribute(const RelationAtlas& atlas, const RelationAtlas::Relation& relation,
                              std::int64_t attribute);

/// "answers *same object*, *same shape* or *same colour*"; of a head "attends where *same object*
/// holds"; or the plain reading. `many`: of several relations; `most`: attributes that are named;
/// 0: the first, without a word of the others.
std::string meaningOf(const RelationAtlas& atlas, const RelationAtlas::Relation& relation,
                      bool many = false, std::size_t most = kMostNamed);
/// "*same object*: AUC 0.996 [0.994, 0.998] within places, untrained 0.73 to 0.92, at step 0 0.74;
/// *same shape*: 0.943, untrained as much"; empty of a plain reading, which has its number.
std::string proofOf(const RelationAtlas& atlas, const RelationAtlas::Relation& relation);
/// An AUC as people read it: "0.996", and "> 0.999" where it would be rounded to 1.
std::string aucText(double auc);

/// Whether the attribute can be part of a label: p < 0.01, and an AUC at least 0.1 from 0.5.
bool canBeLabel(const RelationAtlas& atlas, const RelationAtlas::Relation& relation,
                std::size_t attribute);

/// Fewer untrained models do not tell whether a map learned what it tells.
inline constexpr std::size_t kFewestToLearn = 8;
/// Fills Fit::untrained, its range, Fit::exceedsUntrained and Relation::untrainedFarthest from
/// RelationAtlas::untrainedFits. Without eight models nothing is apart.
void compareWithUntrained(RelationAtlas& atlas);
/// Fills Relation::appearedAfter, appearedBy and development from RelationAtlas::steps.
void findAppearances(RelationAtlas& atlas);

}  // namespace relascope::core
