// SPDX-License-Identifier: GPL-3.0-or-later
// What the inspector shows of an input at first.
#pragma once

#include "types/relation_map.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::app {

/// Chooses the cell (i, j) of a text: i is the last token, blank ones aside, whose text occurs
/// before it, and j the last such occurrence. If no text is repeated, the last two tokens.
void showTextMap(const ProbeSequence& text, widgets::InspectorView* view);

/// The view that is shown first: a relation, of the first layer that has one; for a text at the
/// cell that showTextMap() chooses, for an image at the first two patches with content, otherwise
/// at the first two objects.
widgets::InspectorView firstView(const ProbeResult& result);

}  // namespace relascope::app
