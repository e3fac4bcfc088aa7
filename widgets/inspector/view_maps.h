// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the displayed values and colour limits of a view of a result. No widgets.
#pragma once

#include <memory>

#include "widgets/inspector/map_index.h"
#include "widgets/maps/color_map.h"

namespace relascope::widgets {

class ScaleCache;

/// The ends of the colour scale of a view, and of all values that share it.
struct ScaleEnds {
    Limits limits;
    Extent extent;      ///< the values may lie outside of the limits; unknown until exact
    bool exact = true;  ///< false: estimated from a part of the maps
};

/// Copies share the result and what is known of its scales. All of it may be called from several
/// threads at once, except setResult() and scale(), which needs the current theme.
class ViewMaps : public MapIndex {
public:
    /// Quick: large maps are estimated from some of their rows, unless all of them are known.
    enum class Effort { Exact, Quick };

    ViewMaps();
    /// Sets the result, without the padding of texts. What is known of maps that the new result
    /// has, too, is kept.
    void setResult(std::shared_ptr<const ProbeResult> result);
    /// The nearest view that this result can show. Of a partial result the kind and the index are
    /// kept, as their maps may follow.
    InspectorView clamped(InspectorView view) const;

    /// The processing in effect: attention and symbols support only raw and top k.
    static Processing processing(const InspectorView& view);
    static bool isSigned(const InspectorView& view);
    /// Whether the direction can be reversed: rows and columns are the same objects.
    bool canReverse(const InspectorView& view) const;
    /// Whether it is reversed.
    bool isTransposed(const InspectorView& view) const { return view.reversed && canReverse(view); }

    MapValues values(const InspectorView& view) const;
    /// One row of them without the others. Of a reversed map that takes as long as all rows: Quick
    /// gives an empty row then.
    MapValues::Row row(const InspectorView& view, int i, Effort effort = Effort::Exact) const;
    /// One of these values, from one row of the map; NaN outside.
    float value(const InspectorView& view, int i, int j) const;
    /// Estimated time of values(), and of the extents that an exact scale needs besides, in ms.
    double valuesTime(const InspectorView& view) const;
    double scaleTime(const InspectorView& view) const;

    ScaleEnds ends(const InspectorView& view, Effort effort = Effort::Exact) const;
    Limits limits(const InspectorView& view) const { return ends(view).limits; }
    ColorScale scale(const InspectorView& view, Effort effort = Effort::Exact) const;
    ColorScale scale(const InspectorView& view, const Limits& limits) const;
    /// A small version of one map of the view's layer, in the view's processing, with its scale.
    MapValues thumbnail(MapKind kind, int index, const InspectorView& view, int block) const;
    ColorScale thumbnailScale(MapKind kind, int index, const InspectorView& view) const;
    /// The view with that map in place of its own.
    static InspectorView viewOf(MapKind kind, int index, const InspectorView& view);
    /// Smallest and largest of all values that share the view's scale; they may lie outside of it.
    Extent sharedExtent(const InspectorView& view) const;
    /// Computes some of the extents that ends() needs, for about `milliseconds`. Returns true when
    /// all are known.
    bool extendExtents(const InspectorView& view, double milliseconds) const;
    /// Whether other maps have the view's scale, too: not where it is of one map, nor of a fitted
    /// relation, whose values are in units of their own.
    bool sharesScale(const InspectorView& view) const;
    /// Whether the scale ends at percentiles (endsAtPercentiles()), as the view asks.
    bool isRobust(const InspectorView& view) const;

    /// A raw value of the shown cell, with the direction applied; NaN if there is no such map or
    /// the cell is masked.
    float number(MapKind kind, int index, const InspectorView& view, int i, int j) const;
    bool masked(const InspectorView& view, int i, int j) const;

private:
    /// The map of a view; the product alpha x r is stored in `made`.
    const RelationMap* mapOf(const InspectorView& view, RelationMap& made) const;
    double readingTime(const InspectorView& view) const;
    double processingTime(const InspectorView& view) const;
    bool extentKnown(const InspectorView& view) const;
    Extent extent(const InspectorView& view) const;
    Extent estimate(const InspectorView& view, int rows) const;
    Extent estimatedExtent(const InspectorView& view) const;
    Extent robustExtent(const InspectorView& view) const;
    /// Calls `visit` with a view of each map that shares the scale, until it returns false.
    template <class Visit>
    void visitShared(const InspectorView& view, Visit visit) const;
    int sharedMaps(const InspectorView& view) const;

    std::shared_ptr<ScaleCache> m_cache;
};

}  // namespace relascope::widgets
