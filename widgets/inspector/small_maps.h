// SPDX-License-Identifier: GPL-3.0-or-later
// The small maps of a layer, as the inspector and its figures show them.
#pragma once

#include "widgets/inspector/view_maps.h"

namespace relascope {

class MultiplesView;

/// The stored kind that a kind is shown with: alpha x r is made of relations.
MapKind storedKind(MapKind kind);
/// Fills `multiples` with the relations and the two kinds of attention of the view's layer, and
/// frames the map of the view.
void showMultiples(MultiplesView& multiples, const ViewMaps& maps, const InspectorView& view);

}  // namespace relascope
