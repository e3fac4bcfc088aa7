// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of one layer as groups of small pictures: relations and the two kinds of attention.
#pragma once

#include <vector>

#include "widgets/inspector/view_maps.h"
#include "widgets/maps/multiples_layout.h"

namespace relascope::widgets {

class Measures;
class MultiplesView;

/// The groups of the view's layer without pictures; sorted by `measures`, or by measures computed
/// here if that is null.
std::vector<MultipleGroup> groupsOf(const ViewMaps& maps, const InspectorView& view,
                                    const Measures* measures);
/// The number of cells along the side of one pixel in a picture of that side.
int blockOf(const MultipleItem& item, int side);

/// Groups and the values of their pictures: what takes long of small maps, for any thread.
struct LayerMaps {
    std::vector<MultipleGroup> groups;
    std::vector<std::vector<MapValues>> values;  ///< of each group and item
};
LayerMaps layerMaps(const ViewMaps& maps, const InspectorView& view, int side);
/// The side of the pictures in a view whose inside has that size.
int layerMapsSide(const ViewMaps& maps, InspectorView view, const QSize& size);

/// Shows them in the current theme, with the map of the view framed.
void showMultiples(MultiplesView& multiples, const ViewMaps& maps, const InspectorView& view,
                   LayerMaps content);
/// Sorts, and frames the map of the view; for alpha x r also its head.
void frameMultiples(MultiplesView& multiples, const InspectorView& view);

}  // namespace relascope::widgets
