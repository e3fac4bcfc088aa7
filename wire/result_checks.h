// SPDX-License-Identifier: GPL-3.0-or-later
// What the result of an analysis has to keep before it is shown: each list has the length that
// others give it, and each index is one of the list that it points into.
#pragma once

#include "analysis/scan.h"
#include "types/edit_results.h"

namespace relascope::wire {

// Throw FrameError with the member, its value and what it points into.
void check(const RelationAtlas& atlas);
void check(const ModelScan& scan);

}  // namespace relascope::wire
