// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/map_frame.h"

#include "widgets/inspector/view_text.h"

namespace relascope::widgets {

MapFrame mapFrame(const ViewMaps& maps, const InspectorView& view, ViewMaps::Effort effort) {
    MapFrame frame{maps.values(view), maps.ends(view, effort), {}};
    frame.saturation = saturationText(view, frame.values);
    return frame;
}

MapKey::MapKey(const ViewMaps& maps, const InspectorView& view)
    : m_view(view), m_turned(maps.turned(view)) {
    const auto origin = [&](MapKind kind, int index) -> std::shared_ptr<const void> {
        const RelationMap* map = maps.find(kind, view.layer, index);
        if (map && map->source) return map->source;
        return maps.shared();
    };
    const bool both = view.kind == MapKind::AttentionTimesRelation;
    m_map = origin(both ? MapKind::Relation : view.kind, view.index);
    if (both) m_head = origin(MapKind::RelationalAttention, view.head);
    // The rest moves the crosshair or chooses colours.
    m_view = InspectorView();
    m_view.kind = view.kind;
    m_view.layer = view.layer;
    m_view.index = view.index;
    m_view.head = both ? view.head : 0;
    m_view.processing = ViewMaps::processing(view);
    m_view.topK = m_view.processing == Processing::TopK ? view.topK : 0;
}

}  // namespace relascope::widgets
