// SPDX-License-Identifier: GPL-3.0-or-later
// What the result of an analysis has to keep before it is shown: each list has the length that
// others give it, and each index is one of the list that it points into.
#pragma once

#include "analysis/duel.h"
#include "analysis/head_measures.h"
#include "analysis/scan.h"
#include "types/along.h"
#include "types/edit_results.h"
#include "types/lens.h"

namespace relascope::wire {

// Throw FrameError with the member, its value and what it points into.
void check(const AblationTable& table);
void check(const PatchResult& result);
void check(const LensResult& lens);
void check(const Attribution& attribution);
void check(const AlongTraining& along);
void check(const HeadMeasures& heads);
void check(const RelationAtlas& atlas);
void check(const ModelScan& scan);
void check(const Duel& duel);

}  // namespace relascope::wire
