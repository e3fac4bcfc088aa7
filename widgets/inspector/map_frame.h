// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of one map: its values, the ends of its scale and what its title says.
#pragma once

#include <QString>

#include "widgets/inspector/view_maps.h"

namespace relascope::widgets {

struct MapFrame {
    MapValues values;
    ScaleEnds ends;
    QString saturation;  ///< saturationText() of the values
};

/// May be called on any thread.
MapFrame mapFrame(const ViewMaps& maps, const InspectorView& view, ViewMaps::Effort effort);

/// What a frame depends on: two equal keys have the same values.
class MapKey {
public:
    MapKey() = default;
    MapKey(const ViewMaps& maps, const InspectorView& view);
    bool operator==(const MapKey&) const = default;

private:
    std::shared_ptr<const void> m_map, m_head;  ///< their sources, or the result that stores them
    InspectorView m_view;
    bool m_turned = false;
};

}  // namespace relascope::widgets
