// SPDX-License-Identifier: GPL-3.0-or-later
// What an atlas concludes from its numbers, beside labelRelations() (atlas.h). Does not include
// torch.
#pragma once

#include "analysis/atlas.h"

namespace relascope::core {

/// Fills Fit::untrained, its range and Fit::apart from RelationAtlas::untrainedFits.
void compareWithUntrained(RelationAtlas& atlas);
/// Fills Relation::appearedAfter and appearedBy from RelationAtlas::steps.
void findAppearances(RelationAtlas& atlas);

}  // namespace relascope::core
