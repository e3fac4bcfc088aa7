// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/map_index.h"

#include <algorithm>
#include <utility>

#include "types/map_cells.h"
#include "widgets/source/axis_objects.h"

namespace relascope::widgets {

bool isRelation(MapKind kind) {
    return kind == MapKind::Relation || kind == MapKind::AttentionTimesRelation;
}

MapKind storedKind(MapKind kind) {
    return kind == MapKind::AttentionTimesRelation ? MapKind::Relation : kind;
}

void MapIndex::setIndexed(std::shared_ptr<const ProbeResult> result) {
    m_result = withoutPadding(std::move(result), &m_padding);
    // A model of 24 layers has thousands of maps, which are looked up for each picture.
    for (auto& layers : m_index) layers.clear();
    if (m_result)
        for (const RelationMap& map : m_result->maps) {
            auto& layers = m_index[static_cast<std::size_t>(map.kind)];
            if (map.layer < 0 || map.index < 0) continue;
            const auto layer = static_cast<std::size_t>(map.layer);
            if (layers.size() <= layer) layers.resize(layer + 1);
            const auto index = static_cast<std::size_t>(map.index);
            if (layers[layer].size() <= index) layers[layer].resize(index + 1);
            layers[layer][index] = &map;
        }
}

const MapIndex::Maps* MapIndex::mapsOf(MapKind kind, int layer) const {
    const auto& layers = m_index[static_cast<std::size_t>(kind)];
    return layer >= 0 && layer < static_cast<int>(layers.size())
               ? &layers[static_cast<std::size_t>(layer)]
               : nullptr;
}

const RelationMap* MapIndex::find(MapKind kind, int layer, int index) const {
    const Maps* maps = mapsOf(kind, layer);
    if (!maps || index < 0 || index >= static_cast<int>(maps->size())) return nullptr;
    const RelationMap* map = (*maps)[static_cast<std::size_t>(index)];
    return map && map->complete() ? map : nullptr;
}

const RelationMap* MapIndex::stored(const InspectorView& view) const {
    return find(isRelation(view.kind) ? MapKind::Relation : view.kind, view.layer, view.index);
}

int MapIndex::layers() const {
    if (!m_result) return 0;
    std::size_t layers = m_result->layers.size();
    for (const auto& each : m_index) layers = std::max(layers, each.size());
    return static_cast<int>(layers);
}

bool MapIndex::awaited(int layer) const {
    return m_result && m_result->partial &&
           std::all_of(m_index.begin(), m_index.end(), [layer](const auto& layers) {
               return layer >= static_cast<int>(layers.size()) ||
                      layers[static_cast<std::size_t>(layer)].empty();
           });
}

int MapIndex::computedLayers() const {
    int computed = 0;
    for (int layer = 0; layer < layers(); ++layer) computed += awaited(layer) ? 0 : 1;
    return computed;
}

QString MapIndex::layerName(int layer) const {
    return m_result ? relascope::widgets::layerName(*m_result, layer) : QString();
}

int MapIndex::rowSide(const InspectorView& view) const {
    return m_result ? relascope::rowSide(*m_result, view.layer) : 0;
}

int MapIndex::columnSide(const InspectorView& view) const {
    if (!m_result) return 0;
    if (view.kind != MapKind::Symbols) return relascope::columnSide(*m_result, view.layer);
    const RelationMap* map = stored(view);
    return map && map->libraryRows ? rowSide(view) : -1;
}

int MapIndex::objects(int side) const {
    if (!m_result || side < 0) return 0;
    if (const int known = sideSize(*m_result, side); known > 0) return known;
    // If the result does not contain it: the size of one of its maps.
    for (const auto& map : m_result->maps) {
        if (relascope::rowSide(*m_result, map.layer) == side) return map.rows;
        if (relascope::columnSide(*m_result, map.layer) == side && map.kind != MapKind::Symbols)
            return map.columns;
    }
    return 0;
}

int MapIndex::count(MapKind kind, int layer) const {
    if (kind == MapKind::AttentionTimesRelation)
        return count(MapKind::RelationalAttention, layer) > 0 ? count(MapKind::Relation, layer) : 0;
    const Maps* maps = mapsOf(kind, layer);
    return maps ? static_cast<int>(std::count_if(maps->begin(), maps->end(),
                                                 [](const RelationMap* map) { return map; }))
                : 0;
}

bool MapIndex::has(MapKind kind) const {
    for (int layer = 0; layer < layers(); ++layer)
        if (count(kind, layer) > 0) return true;
    return false;
}

}  // namespace relascope::widgets
