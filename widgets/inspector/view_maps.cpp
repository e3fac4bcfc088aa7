// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/view_maps.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "widgets/inspector/map_statistics.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// ms below which a scale is made exact at once.
constexpr double smallWork = 3.0;

/// ns to read a cell.
double cellTime(const RelationMap& map) {
    return map.source ? 1.0 + 0.4 * static_cast<double>(map.source->cost()) : 0.3;
}

ScaleCache::ExtentKey extentKey(const InspectorView& view) {
    const bool both = view.kind == MapKind::AttentionTimesRelation;
    return {static_cast<int>(view.kind), view.layer, view.index, both ? view.head : -1,
            ViewMaps::processing(view) == Processing::SoftmaxOverJ};
}

/// Tanh and sigmoid rise everywhere, so the ends stay the ends.
Extent processedExtent(Extent e, const InspectorView& view) {
    if (e.any && ViewMaps::processing(view) != Processing::SoftmaxOverJ) {
        e.low = processedValue(e.low, ViewMaps::processing(view));
        e.high = processedValue(e.high, ViewMaps::processing(view));
    }
    return e;
}

}  // namespace

ViewMaps::ViewMaps() : m_cache(std::make_shared<ScaleCache>()) {}

void ViewMaps::setResult(std::shared_ptr<const ProbeResult> result) {
    const ViewMaps before = *this;
    setIndexed(std::move(result));
    m_cache = std::make_shared<ScaleCache>();
    const auto same = [&](int kind, int layer, int index) {
        const RelationMap* old = before.find(static_cast<MapKind>(kind), layer, index);
        const RelationMap* now = find(static_cast<MapKind>(kind), layer, index);
        return old && now && old->source && old->source == now->source;
    };
    m_cache->keep(*before.m_cache, same, [&](int kind, int layer) {
        const int maps = count(static_cast<MapKind>(kind), layer);
        bool all = maps == before.count(static_cast<MapKind>(kind), layer);
        for (int k = 0; k < maps && all; ++k) all = same(kind, layer, k);
        return all;
    });
}

InspectorView ViewMaps::clamped(InspectorView view) const {
    if (!result()) return view;
    view.layer = std::clamp(view.layer, 0, std::max(0, layers() - 1));
    const bool mayFollow = result()->partial && count(view.kind, view.layer) == 0;
    if (count(view.kind, view.layer) == 0 && !mayFollow) {
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
    if (!mayFollow) {
        view.index = std::clamp(view.index, 0, std::max(0, count(view.kind, view.layer) - 1));
        const int heads = count(MapKind::RelationalAttention, view.layer);
        view.head = std::clamp(view.head, 0, std::max(0, heads - 1));
    }
    view.topK = std::max(1, view.topK);
    const RelationMap* map = stored(view);
    const int rows = map ? map->rows : objects(rowSide(view));
    const int columns = map ? map->columns : objects(columnSide(view));
    view.source = std::clamp(view.source, 0, std::max(0, rows - 1));
    view.target = std::clamp(view.target, 0, std::max(0, columns - 1));
    return view;
}

Processing ViewMaps::processing(const InspectorView& view) {
    // The sigmoid of a difference is no difference of sigmoids.
    if (view.shown == Shown::Difference && view.processing != Processing::TopK)
        return Processing::Raw;
    if (isRelation(view.kind) || view.processing == Processing::TopK) return view.processing;
    return Processing::Raw;
}

bool ViewMaps::isSigned(const InspectorView& view) {
    const Processing p = processing(view);
    if (view.shown == Shown::Difference) return true;
    return isRelation(view.kind) && p != Processing::Sigmoid && p != Processing::SoftmaxOverJ;
}

bool ViewMaps::canReverse(const InspectorView& view) const {
    const RelationMap* map = stored(view);
    return !map || (map->rows == map->columns && rowSide(view) == columnSide(view));
}

const RelationMap* ViewMaps::mapOf(const InspectorView& view, RelationMap& made) const {
    if (view.kind != MapKind::AttentionTimesRelation)
        return find(view.kind, view.layer, view.index);
    const RelationMap* relation = find(MapKind::Relation, view.layer, view.index);
    const RelationMap* attention = find(MapKind::RelationalAttention, view.layer, view.head);
    if (!relation || !attention) return nullptr;
    made = product(*attention, *relation);
    return &made;
}

MapValues ViewMaps::values(const InspectorView& view) const {
    RelationMap made;
    const RelationMap* map = mapOf(view, made);
    if (!map) return {};
    MapValues out = processed(*map, processing(view), view.topK);
    return isTransposed(view) ? transposed(out) : out;
}

MapValues::Row ViewMaps::row(const InspectorView& view, int i, Effort effort) const {
    RelationMap made;
    const RelationMap* map = mapOf(view, made);
    if (!map) return {};
    if (isTransposed(view)) {  // a column: of every row one cell
        if (effort == Effort::Quick && valuesTime(view) > smallWork) return {};
        const MapValues all = values(view);
        return i >= 0 && i < all.rows ? all.row(i) : MapValues::Row();
    }
    MapValues::Row out{processedRow(*map, i, processing(view), view.topK), {}};
    for (int j = 0; j < static_cast<int>(out.values.size()); ++j)
        out.masked.push_back(map->masked(i, j) ||
                             (hasGaps(*map) && std::isnan(out.values[std::size_t(j)])));
    return out;
}

float ViewMaps::value(const InspectorView& view, int i, int j) const {
    if (isTransposed(view)) std::swap(i, j);
    RelationMap made;
    const RelationMap* map = mapOf(view, made);
    const auto row =
        map ? processedRow(*map, i, processing(view), view.topK) : std::vector<float>();
    return j >= 0 && j < static_cast<int>(row.size()) ? row[static_cast<std::size_t>(j)]
                                                      : std::numeric_limits<float>::quiet_NaN();
}

double ViewMaps::readingTime(const InspectorView& view) const {
    const auto of = [](const RelationMap* map) {
        return map ? static_cast<double>(map->cells()) * cellTime(*map) / 1e6 : 0.0;
    };
    const double head = view.kind == MapKind::AttentionTimesRelation
                            ? of(find(MapKind::RelationalAttention, view.layer, view.head))
                            : 0.0;
    return of(stored(view)) + head;
}

double ViewMaps::processingTime(const InspectorView& view) const {
    constexpr double eachCell[] = {0.3, 10.0, 8.0, 3.0, 4.0};  // ns, in the order of Processing
    const RelationMap* map = stored(view);
    return map ? static_cast<double>(map->cells()) *
                     eachCell[static_cast<std::size_t>(processing(view))] / 1e6
               : 0.0;
}

double ViewMaps::valuesTime(const InspectorView& view) const {
    return readingTime(view) + processingTime(view);
}

bool ViewMaps::sharesScale(const InspectorView& view) const {
    const RelationMap* map = stored(view);
    return view.range != Range::ThisMap && (!map || map->fitted.empty());
}

template <class Visit>
void ViewMaps::visitShared(const InspectorView& view, Visit visit) const {
    // A difference has a range of its own, as others may be far larger.
    if (!sharesScale(view) || view.shown == Shown::Difference || !result())
        return void(visit(view));
    InspectorView each = view;
    const bool model = view.range == Range::WholeModel;
    const int last = model ? layers() : view.layer + 1;
    for (each.layer = model ? 0 : view.layer; each.layer < last; ++each.layer) {
        const int maps = count(view.kind, each.layer);
        for (each.index = 0; each.index < maps; ++each.index)
            if (sharesScale(each) && !visit(each)) return;
    }
}

int ViewMaps::sharedMaps(const InspectorView& view) const {
    int maps = 0;
    visitShared(view, [&](const InspectorView&) { return ++maps > 0; });
    return maps;
}

bool ViewMaps::extentKnown(const InspectorView& view) const {
    return m_cache->extent(extentKey(view)).has_value();
}

double ViewMaps::scaleTime(const InspectorView& view) const {
    double time = 0.0;
    visitShared(view, [&](const InspectorView& each) {
        if (!extentKnown(each))
            time +=
                processing(each) == Processing::SoftmaxOverJ ? valuesTime(each) : readingTime(each);
        return true;
    });
    return time;
}

Extent ViewMaps::extent(const InspectorView& view) const {
    const auto key = extentKey(view);
    if (const auto known = m_cache->extent(key)) return processedExtent(*known, view);
    RelationMap made;
    Extent e;
    if (const RelationMap* map = mapOf(view, made))
        e = processing(view) == Processing::SoftmaxOverJ
                ? extentOf(processed(*map, Processing::SoftmaxOverJ))
                : extentOf(*map);
    return processedExtent(m_cache->setExtent(key, e), view);
}

Extent ViewMaps::estimate(const InspectorView& view, int rows) const {
    const auto key = extentKey(view);
    auto known = m_cache->extent(key);
    if (!known) known = m_cache->estimate(key);
    if (known) return processedExtent(*known, view);
    RelationMap made;
    Extent e;
    if (const RelationMap* map = mapOf(view, made)) {
        if (processing(view) != Processing::SoftmaxOverJ) {
            e = extentOfRows(*map, rows);
        } else {
            for (int k = 1; k <= rows; ++k) {
                const int i = static_cast<int>(static_cast<std::int64_t>(k) * map->rows / rows) - 1;
                for (const float v : processedRow(*map, i, Processing::SoftmaxOverJ))
                    if (std::isfinite(v)) e.include({v, v, true});
            }
        }
    }
    return processedExtent(m_cache->setEstimate(key, e), view);
}

Extent ViewMaps::estimatedExtent(const InspectorView& view) const {
    constexpr int mostRows = 96;  // rows of all maps together: some ms
    const int rows = std::clamp(mostRows / std::max(1, sharedMaps(view)), 1, 12);
    Extent all;
    visitShared(view, [&](const InspectorView& each) {
        all.include(estimate(each, rows));
        return true;
    });
    return all;
}

Extent ViewMaps::sharedExtent(const InspectorView& view) const {
    Extent all;
    visitShared(view, [&](const InspectorView& each) {
        all.include(extent(each));
        return true;
    });
    return all;
}

bool ViewMaps::extendExtents(const InspectorView& view, double milliseconds) const {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
    bool all = true;
    visitShared(view, [&](const InspectorView& each) {
        if (extentKnown(each)) return true;
        all = Clock::now() < end;
        if (all) extent(each);
        return all;
    });
    return all;
}

bool ViewMaps::isRobust(const InspectorView& view) const {
    const Processing p = processing(view);
    if (!view.robust || view.range == Range::Fixed || view.shown == Shown::Difference ||
        (p != Processing::Raw && p != Processing::TopK))
        return false;
    if (view.kind == MapKind::AttentionTimesRelation) return false;
    const RelationMap* map = stored(view);
    return map ? endsAtPercentiles(*map) : view.kind == MapKind::Relation;
}

Extent ViewMaps::robustExtent(const InspectorView& view) const {
    const bool one = !sharesScale(view);
    const ScaleCache::PercentileKey key{
        static_cast<int>(view.kind), static_cast<int>(one ? Range::ThisMap : view.range),
        view.range == Range::WholeModel && !one ? -1 : view.layer, one ? view.index : -1};
    if (const auto known = m_cache->percentiles(key)) return *known;
    const int maps = sharedMaps(view);
    std::vector<float> values;
    visitShared(view, [&](const InspectorView& shared) {
        if (const RelationMap* map = stored(shared)) {
            const auto more = scaleSample(*map, maps);
            values.insert(values.end(), more.begin(), more.end());
        }
        return true;
    });
    return m_cache->setPercentiles(key, percentiles(std::move(values)));
}

ScaleEnds ViewMaps::ends(const InspectorView& view, Effort effort) const {
    const bool both = isSigned(view);
    ScaleEnds ends;
    ends.exact = effort == Effort::Exact || scaleTime(view) < smallWork;
    if (ends.exact) ends.extent = sharedExtent(view);
    const bool fixed = view.range == Range::Fixed && view.shown != Shown::Difference;
    if (fixed && view.kind != MapKind::Symbols) {
        ends.limits = both ? Limits{-1, 1} : Limits{0, 1};
        return ends;
    }
    // If nearly all values are 0, percentiles are not meaningful.
    const Extent inner = isRobust(view) ? robustExtent(view) : Extent();
    ends.limits = limitsOf(inner.magnitude() > 0.0F ? inner
                           : ends.exact             ? ends.extent
                                                    : estimatedExtent(view),
                           both);
    return ends;
}

ColorScale ViewMaps::scale(const InspectorView& view, Effort effort) const {
    return scale(view, ends(view, effort).limits);
}

ColorScale ViewMaps::scale(const InspectorView& view, const Limits& limits) const {
    const auto kind = !isSigned(view) ? ColorScale::Kind::Sequential
                      : view.paper    ? ColorScale::Kind::Paper
                                      : ColorScale::Kind::Signed;
    return {kind, limits, Theme::current()};
}

InspectorView ViewMaps::viewOf(MapKind kind, int index, const InspectorView& view) {
    InspectorView small = view;
    small.kind = kind;
    small.index = index;
    return small;
}

MapValues ViewMaps::thumbnail(MapKind kind, int index, const InspectorView& view, int block) const {
    const RelationMap* map = find(kind, view.layer, index);
    if (!map) return {};
    const Processing how = processing(viewOf(kind, index, view));
    MapValues out;
    if (how == Processing::SoftmaxOverJ || how == Processing::TopK) {
        const MapValues whole = processed(*map, how, view.topK);
        // The scale needs the extent of the same softmax, which is available here.
        if (how == Processing::SoftmaxOverJ)
            m_cache->setExtent(extentKey(viewOf(kind, index, view)), extentOf(whole));
        out = pooled(whole, block);
    } else {
        // Pools the largest |r| of a block first, then applies the function: one call per pixel
        // instead of one per cell.
        out = pooled(*map, block);
        if (how != Processing::Raw)
            for (float& v : out.values) v = processedValue(v, how);
    }
    return isTransposed(viewOf(kind, index, view)) ? transposed(out) : out;
}

ColorScale ViewMaps::thumbnailScale(MapKind kind, int index, const InspectorView& view) const {
    return scale(viewOf(kind, index, view));
}

bool ViewMaps::masked(const InspectorView& view, int i, int j) const {
    const RelationMap* map = stored(view);
    if (!map) return false;
    return isTransposed(view) ? map->masked(j, i) : map->masked(i, j);
}

float ViewMaps::number(MapKind kind, int index, const InspectorView& view, int i, int j) const {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    if (kind == MapKind::AttentionTimesRelation) {
        return number(MapKind::Relation, index, view, i, j) *
               number(MapKind::RelationalAttention, view.head, view, i, j);
    }
    const RelationMap* map = find(kind, view.layer, index);
    if (!map) return none;
    if (isTransposed(viewOf(kind, index, view))) std::swap(i, j);
    if (i < 0 || j < 0 || i >= map->rows || j >= map->columns || map->masked(i, j)) return none;
    return map->at(i, j);
}

}  // namespace relascope::widgets
