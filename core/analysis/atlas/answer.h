// SPDX-License-Identifier: GPL-3.0-or-later
// The atlas of relations as an answer, and what others keep of one beside their own tables.
#pragma once

#include "analysis/atlas/atlas.h"
#include "types/answer.h"

namespace relascope::core {

/// "relations" has a row for each map, "fits" one for each map and attribute; "uses", "pairs" and
/// so on name their map by its row.
Answer answerOf(const RelationAtlas& atlas);
/// Throws Error for what is no such answer.
RelationAtlas relationAtlasOf(const Answer& answer);

/// Adds an atlas to an answer that has values of its own: the values of the atlas are the table
/// "atlas"; and reads it back.
void addAtlas(Answer& answer, const RelationAtlas& atlas);
RelationAtlas atlasIn(const Answer& answer);

}  // namespace relascope::core
