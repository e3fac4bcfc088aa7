// SPDX-License-Identifier: GPL-3.0-or-later
// How hypotheses of one's own stand in an atlas. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "analysis/atlas/atlas.h"

namespace relascope::core {

/// A sentence for each hypothesis: the map that tells it best, with its AUC, and the best that was
/// found of the same map: "Your hypothesis *same(colour) and same(shape)*: layer 1 relation 1 has
/// AUC 0.970 [0.965, 0.975] (untrained 0.430 to 0.571); the best that was found there is *same
/// shape* (0.943)." Numbers are those of the words: of an AUC below 0.5 the sentence says "not" and
/// has 1 - AUC. Of a hypothesis that places decide (*j - i = 1*) it says that it cannot be told
/// from place. Without maps whose attributes are tested there are none.
std::vector<std::string> hypothesisSentences(const RelationAtlas& atlas);

}  // namespace relascope::core
