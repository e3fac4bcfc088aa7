// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/view_maps.h"

#include <algorithm>
#include <limits>

#include "widgets/inspector/padding.h"
#include "widgets/source/sides.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

bool isRelation(MapKind kind) {
    return kind == MapKind::Relation || kind == MapKind::AttentionTimesRelation;
}

}  // namespace

void ViewMaps::setResult(std::shared_ptr<const ProbeResult> result) {
    m_result = withoutPadding(std::move(result), &m_padding);
    m_extents.clear();
    m_percentiles.clear();
}

const RelationMap* ViewMaps::stored(MapKind kind, int layer, int index) const {
    const RelationMap* map = m_result ? m_result->find(kind, layer, index) : nullptr;
    // A map with fewer values than its shape requires cannot be drawn.
    if (map && map->values.size() <
                   static_cast<std::size_t>(std::max(0, map->rows)) * std::max(0, map->columns))
        return nullptr;
    return map;
}

const RelationMap* ViewMaps::stored(const InspectorView& view) const {
    return stored(isRelation(view.kind) ? MapKind::Relation : view.kind, view.layer, view.index);
}

int ViewMaps::layers() const {
    if (!m_result) return 0;
    int layers = static_cast<int>(m_result->layers.size());
    for (const auto& map : m_result->maps) layers = std::max(layers, map.layer + 1);
    return layers;
}

QString ViewMaps::layerName(int layer) const {
    return m_result ? relascope::widgets::layerName(*m_result, layer) : QString();
}

int ViewMaps::rowSide(const InspectorView& view) const {
    return m_result ? relascope::widgets::rowSide(*m_result, view.layer) : 0;
}

int ViewMaps::columnSide(const InspectorView& view) const {
    if (!m_result) return 0;
    if (view.kind != MapKind::Symbols) return relascope::widgets::columnSide(*m_result, view.layer);
    const RelationMap* map = stored(view);
    return map && map->libraryRows ? rowSide(view) : -1;
}

int ViewMaps::objects(int side) const {
    if (!m_result || side < 0) return 0;
    if (const int known = sideSize(*m_result, side); known > 0) return known;
    // If the result does not contain it: the size of one of its maps.
    for (const auto& map : m_result->maps) {
        if (relascope::widgets::rowSide(*m_result, map.layer) == side) return map.rows;
        if (relascope::widgets::columnSide(*m_result, map.layer) == side &&
            map.kind != MapKind::Symbols)
            return map.columns;
    }
    return 0;
}

int ViewMaps::count(MapKind kind, int layer) const {
    if (!m_result) return 0;
    if (kind != MapKind::AttentionTimesRelation) return m_result->count(kind, layer);
    return m_result->count(MapKind::RelationalAttention, layer) > 0
               ? m_result->count(MapKind::Relation, layer)
               : 0;
}

bool ViewMaps::has(MapKind kind) const {
    if (!m_result) return false;
    for (const auto& map : m_result->maps)
        if (count(kind, map.layer) > 0) return true;
    return false;
}

InspectorView ViewMaps::clamped(InspectorView view) const {
    if (!m_result) return view;
    view.layer = std::clamp(view.layer, 0, std::max(0, layers() - 1));
    if (count(view.kind, view.layer) == 0) {
        const MapKind kinds[] = {MapKind::Relation, MapKind::RelationalAttention,
                                 MapKind::SensoryAttention, MapKind::Symbols};
        // A kind of this layer, if it has any; otherwise one of the model.
        auto found = std::find_if(std::begin(kinds), std::end(kinds),
                                  [&](MapKind kind) { return count(kind, view.layer) > 0; });
        if (found == std::end(kinds) && !has(view.kind))
            found = std::find_if(std::begin(kinds), std::end(kinds),
                                 [&](MapKind kind) { return has(kind); });
        if (found != std::end(kinds)) view.kind = *found;
    }
    view.index = std::clamp(view.index, 0, std::max(0, count(view.kind, view.layer) - 1));
    view.head =
        std::clamp(view.head, 0, std::max(0, count(MapKind::RelationalAttention, view.layer) - 1));
    view.topK = std::max(1, view.topK);
    const RelationMap* map = stored(view);
    const int rows = map ? map->rows : objects(rowSide(view));
    const int columns = map ? map->columns : objects(columnSide(view));
    view.source = std::clamp(view.source, 0, std::max(0, rows - 1));
    view.target = std::clamp(view.target, 0, std::max(0, columns - 1));
    return view;
}

Processing ViewMaps::processing(const InspectorView& view) {
    if (isRelation(view.kind) || view.processing == Processing::TopK) return view.processing;
    return Processing::Raw;
}

bool ViewMaps::isSigned(const InspectorView& view) {
    const Processing p = processing(view);
    return isRelation(view.kind) && p != Processing::Sigmoid && p != Processing::SoftmaxOverJ;
}

bool ViewMaps::canReverse(const InspectorView& view) const {
    const RelationMap* map = stored(view);
    return !map || (map->rows == map->columns && rowSide(view) == columnSide(view));
}

const RelationMap* ViewMaps::mapOf(const InspectorView& view, RelationMap& made) const {
    if (view.kind != MapKind::AttentionTimesRelation)
        return stored(view.kind, view.layer, view.index);
    const RelationMap* relation = stored(MapKind::Relation, view.layer, view.index);
    const RelationMap* attention = stored(MapKind::RelationalAttention, view.layer, view.head);
    if (!relation || !attention) return nullptr;
    made = product(*attention, *relation);
    return &made;
}

MapValues ViewMaps::values(const InspectorView& view) const {
    RelationMap made;
    const RelationMap* map = mapOf(view, made);
    if (!map) return {};
    MapValues out = processed(*map, processing(view), view.topK);
    return turned(view) ? transposed(out) : out;
}

Extent ViewMaps::extent(const InspectorView& view) const {
    const bool softmax = processing(view) == Processing::SoftmaxOverJ;
    const bool both = view.kind == MapKind::AttentionTimesRelation;
    const auto key = std::tuple(static_cast<int>(view.kind), view.layer, view.index,
                                both ? view.head : -1, softmax);
    const auto known = m_extents.find(key);
    Extent e;
    if (known != m_extents.end()) {
        e = known->second;
    } else {
        RelationMap made;
        if (const RelationMap* map = mapOf(view, made))
            e = softmax ? extentOf(processed(*map, Processing::SoftmaxOverJ)) : extentOf(*map);
        m_extents.emplace(key, e);
    }
    if (e.any && !softmax) {  // both functions rise everywhere, so the ends stay the ends
        e.low = processedValue(e.low, processing(view));
        e.high = processedValue(e.high, processing(view));
    }
    return e;
}

template <class Visit>
void ViewMaps::visitShared(const InspectorView& view, Visit visit) const {
    if (view.range == Range::ThisMap || !m_result) return visit(view);
    InspectorView each = view;
    const bool model = view.range == Range::WholeModel;
    const int last = model ? layers() : view.layer + 1;
    for (int layer = model ? 0 : view.layer; layer < last; ++layer) {
        each.layer = layer;
        const int maps = count(view.kind, layer);
        for (each.index = 0; each.index < maps; ++each.index) visit(each);
    }
}

Extent ViewMaps::sharedExtent(const InspectorView& view) const {
    Extent all;
    visitShared(view, [&](const InspectorView& each) { all.include(extent(each)); });
    return all;
}

bool ViewMaps::isRobust(const InspectorView& view) {
    const Processing p = processing(view);
    return view.robust && view.kind == MapKind::Relation && view.range != Range::Fixed &&
           (p == Processing::Raw || p == Processing::TopK);
}

/// All maps have the same weight, independent of their size.
Extent ViewMaps::robustExtent(const InspectorView& view) const {
    const bool one = view.range == Range::ThisMap;
    const auto key =
        std::tuple(static_cast<int>(view.range), view.range == Range::WholeModel ? -1 : view.layer,
                   one ? view.index : -1);
    if (const auto known = m_percentiles.find(key); known != m_percentiles.end())
        return known->second;
    std::vector<float> values;
    visitShared(view, [&](const InspectorView& each) {
        if (const RelationMap* map = stored(each)) {
            const auto more = valueSample(*map);
            values.insert(values.end(), more.begin(), more.end());
        }
    });
    return m_percentiles.emplace(key, percentiles(std::move(values))).first->second;
}

Limits ViewMaps::limits(const InspectorView& view) const {
    const bool both = isSigned(view);
    if (view.range == Range::Fixed && view.kind != MapKind::Symbols)
        return both ? Limits{-1, 1} : Limits{0, 1};
    if (isRobust(view)) {
        // If nearly all values are 0, percentiles are not meaningful.
        if (const Extent inner = robustExtent(view); inner.magnitude() > 0.0F)
            return limitsOf(inner, both);
    }
    return limitsOf(sharedExtent(view), both);
}

ColorScale ViewMaps::scale(const InspectorView& view) const {
    const auto kind = !isSigned(view) ? ColorScale::Kind::Sequential
                      : view.paper    ? ColorScale::Kind::Paper
                                      : ColorScale::Kind::Signed;
    return {kind, limits(view), Theme::current()};
}

InspectorView ViewMaps::thumbnailView(MapKind kind, int index, const InspectorView& view) {
    InspectorView small = view;
    small.kind = kind;
    small.index = index;
    return small;
}

MapValues ViewMaps::thumbnail(MapKind kind, int index, const InspectorView& view, int block) const {
    const RelationMap* map = stored(kind, view.layer, index);
    if (!map) return {};
    const Processing how = processing(thumbnailView(kind, index, view));
    MapValues out;
    if (how == Processing::SoftmaxOverJ || how == Processing::TopK) {
        const MapValues whole = processed(*map, how, view.topK);
        // The scale needs the extent of the same softmax, which is available here.
        if (how == Processing::SoftmaxOverJ)
            m_extents.try_emplace(std::tuple(static_cast<int>(kind), view.layer, index, -1, true),
                                  extentOf(whole));
        out = pooled(whole, block);
    } else {
        // Pools the largest |r| of a block first, then applies the function: one call per pixel
        // instead of one per cell.
        out = pooled(*map, block);
        if (how != Processing::Raw)
            for (float& v : out.values) v = processedValue(v, how);
    }
    return turned(thumbnailView(kind, index, view)) ? transposed(out) : out;
}

ColorScale ViewMaps::thumbnailScale(MapKind kind, int index, const InspectorView& view) const {
    return scale(thumbnailView(kind, index, view));
}

float ViewMaps::magnitude(MapKind kind, int layer, int index) const {
    InspectorView view;
    view.kind = kind;
    view.layer = layer;
    view.index = index;
    return extent(view).magnitude();
}

bool ViewMaps::masked(const InspectorView& view, int i, int j) const {
    const RelationMap* map = stored(view);
    if (!map) return false;
    return turned(view) ? map->masked(j, i) : map->masked(i, j);
}

float ViewMaps::number(MapKind kind, int index, const InspectorView& view, int i, int j) const {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    if (kind == MapKind::AttentionTimesRelation) {
        return number(MapKind::Relation, index, view, i, j) *
               number(MapKind::RelationalAttention, view.head, view, i, j);
    }
    const RelationMap* map = stored(kind, view.layer, index);
    if (!map) return none;
    if (turned(thumbnailView(kind, index, view))) std::swap(i, j);
    if (i < 0 || j < 0 || i >= map->rows || j >= map->columns || map->masked(i, j)) return none;
    return map->at(i, j);
}

}  // namespace relascope::widgets
