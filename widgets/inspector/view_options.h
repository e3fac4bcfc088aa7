// SPDX-License-Identifier: GPL-3.0-or-later
// A view of the inspector as options of the command inspect, and back.
#pragma once

#include "types/view.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::widgets {

/// Adds the options for a view and the parts of its figure; of how it is looked at those that are
/// not the usual ones.
void addViewOptions(View& options, const InspectorView& view, FigureParts parts);
/// The view that options choose. Names that are none are those of the usual view.
InspectorView inspectorViewOf(const View& options);

/// The view with this look.
InspectorView withLook(InspectorView view, const MapLook& look);
FigureParts partsOf(const MapLook& look);

}  // namespace relascope::widgets
