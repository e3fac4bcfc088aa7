// SPDX-License-Identifier: GPL-3.0-or-later
// What an atlas takes over: the effects of taking maps out, and the stages of an earlier atlas.
#pragma once

#include <vector>

#include "analysis/atlas/atlas.h"
#include "analysis/pairs/pair_reading.h"
#include "types/edit_results.h"

namespace relascope::core {

/// Fills the uses of the relations of `maps` from a table of them taken out, and names each use.
/// The accuracy of untrained models, RelationAtlas::untrainedScores, is taken into account.
void takeUses(RelationAtlas& atlas, const AblationTable& table, const std::vector<PairMap>& maps);
/// Takes the stages that an earlier atlas has measured, if it describes the same maps of the same
/// examples. Its labels are found anew.
void resumeFrom(RelationAtlas& atlas, const RelationAtlas& known);

}  // namespace relascope::core
