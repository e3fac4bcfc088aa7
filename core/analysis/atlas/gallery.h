// SPDX-License-Identifier: GPL-3.0-or-later
// The pairs of objects that a map tells most and least of. Does not include torch.
#pragma once

#include <vector>

#include "analysis/atlas/atlas.h"
#include "analysis/pairs/pair_objects.h"

namespace relascope::core {

/// Fills highest, lowest and, of relations, nearZero from values [examples, objects, objects]: 24
/// pairs each, at most one of an example, the first 8 with pictures.
void fillGallery(RelationAtlas::Relation& relation, const PairObjects& objects, const Dataset& data,
                 const std::vector<float>& values);

/// Marks in these pairs whether the attribute of the label holds, and fills evidence; without a
/// label nothing is marked. `truth` as PairAttribute::truth.
void fillEvidence(RelationAtlas::Relation& relation, const PairObjects& objects,
                  const Dataset& data, const std::vector<float>& values, PairTruth truth);

}  // namespace relascope::core
