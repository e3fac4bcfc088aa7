// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the displayed values and colour limits of a view of a result. No widgets.
#pragma once

#include <QString>
#include <map>
#include <memory>
#include <tuple>

#include "widgets/inspector/inspector_view.h"
#include "widgets/maps/color_map.h"

namespace relascope::widgets {

class ViewMaps {
public:
    /// Sets the result, without the padding of texts.
    void setResult(std::shared_ptr<const ProbeResult> result);
    const ProbeResult* result() const { return m_result.get(); }
    /// The number of padding elements removed from the source.
    int paddingLeftOut() const { return m_padding; }

    /// The number of maps of a kind in a layer; for alpha x r the number of relations.
    int count(MapKind kind, int layer) const;
    bool has(MapKind kind) const;  ///< in any layer
    int layers() const;
    QString layerName(int layer) const;
    /// Sides of the result along the rows and columns of a view; the columns of a table of symbols
    /// are symbols of a library, side -1.
    int rowSide(const InspectorView& view) const;
    int columnSide(const InspectorView& view) const;
    /// The number of objects of a side; 0 for symbols.
    int objects(int side) const;
    /// The nearest view that this result can show.
    InspectorView clamped(InspectorView view) const;

    /// The processing in effect: attention and symbols support only raw and top k.
    static Processing processing(const InspectorView& view);
    static bool isSigned(const InspectorView& view);
    /// Whether the direction can be reversed: rows and columns are the same objects.
    bool canReverse(const InspectorView& view) const;
    /// Whether it is reversed.
    bool turned(const InspectorView& view) const { return view.reversed && canReverse(view); }

    MapValues values(const InspectorView& view) const;
    Limits limits(const InspectorView& view) const;
    ColorScale scale(const InspectorView& view) const;
    /// A small version of one map of the view's layer, in the view's processing, with its scale.
    MapValues thumbnail(MapKind kind, int index, const InspectorView& view, int block) const;
    ColorScale thumbnailScale(MapKind kind, int index, const InspectorView& view) const;
    /// Smallest and largest of all values that share the view's scale; they may lie outside of it.
    Extent sharedExtent(const InspectorView& view) const;
    /// Whether the scale ends at percentiles: only r has no bounds, so only r needs it.
    static bool isRobust(const InspectorView& view);
    /// Largest |value| of a stored map, before any processing.
    float magnitude(MapKind kind, int layer, int index) const;

    /// A raw value of the shown cell, with the direction applied; NaN if there is no such map or
    /// the cell is masked.
    float number(MapKind kind, int index, const InspectorView& view, int i, int j) const;
    bool masked(const InspectorView& view, int i, int j) const;

private:
    const RelationMap* stored(const InspectorView& view) const;
    const RelationMap* stored(MapKind kind, int layer, int index) const;
    /// The map of a view; the product alpha x r is stored in `made`.
    const RelationMap* mapOf(const InspectorView& view, RelationMap& made) const;
    Extent extent(const InspectorView& view) const;
    Extent robustExtent(const InspectorView& view) const;
    /// Calls `visit` with a view of each map that shares the scale.
    template <class Visit>
    void visitShared(const InspectorView& view, Visit visit) const;
    static InspectorView thumbnailView(MapKind kind, int index, const InspectorView& view);

    std::shared_ptr<const ProbeResult> m_result;
    int m_padding = 0;
    /// Extents before monotone processing, by kind, layer, index, head and softmax: a change of
    /// layer must not read the whole model again.
    mutable std::map<std::tuple<int, int, int, int, bool>, Extent> m_extents;
    /// Percentiles of raw relations, by range, layer and index.
    mutable std::map<std::tuple<int, int, int>, Extent> m_percentiles;
};

}  // namespace relascope::widgets
