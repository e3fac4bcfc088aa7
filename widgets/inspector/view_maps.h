// SPDX-License-Identifier: GPL-3.0-or-later
// From a result and a choice of view to the values and colour limits on the screen. No widgets.
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
    /// What fills up a text is left out.
    void setResult(std::shared_ptr<const ProbeResult> result);
    const ProbeResult* result() const { return m_result.get(); }
    /// How many blanks of the source were left out.
    int paddingLeftOut() const { return m_padding; }

    /// How many maps of the kind the layer has; for alpha x r as many as relations.
    int count(MapKind kind, int layer) const;
    bool has(MapKind kind) const;  ///< in any layer
    int layers() const;
    QString layerName(int layer) const;
    /// Sides of the result along the rows and columns of a view; the columns of a table of symbols
    /// are symbols of a library, side -1.
    int rowSide(const InspectorView& view) const;
    int columnSide(const InspectorView& view) const;
    /// How many objects a side has; 0 for symbols.
    int objects(int side) const;
    /// The nearest view that this result can show.
    InspectorView clamped(InspectorView view) const;

    /// What the view's processing comes to: attention and symbols know only raw and top k.
    static Processing processing(const InspectorView& view);
    static bool isSigned(const InspectorView& view);
    /// Whether direction can be turned: rows and columns are the same objects.
    bool canReverse(const InspectorView& view) const;
    /// Whether it is turned.
    bool turned(const InspectorView& view) const { return view.reversed && canReverse(view); }

    MapValues values(const InspectorView& view) const;
    Limits limits(const InspectorView& view) const;
    ColorScale scale(const InspectorView& view) const;
    /// A small version of one map of the view's layer, in the view's processing, with its scale.
    MapValues thumbnail(MapKind kind, int index, const InspectorView& view, int block) const;
    ColorScale thumbnailScale(MapKind kind, int index, const InspectorView& view) const;
    /// Smallest and largest of all values that share the view's scale; they may lie beyond it.
    Extent sharedExtent(const InspectorView& view) const;
    /// Whether the scale ends at percentiles: only r has no bounds, so only r needs it.
    static bool isRobust(const InspectorView& view);
    /// Largest |value| of a stored map, before any processing.
    float magnitude(MapKind kind, int layer, int index) const;

    /// A number of the shown cell as the model gave it, direction applied; NaN where there is no
    /// such map or the cell is masked.
    float number(MapKind kind, int index, const InspectorView& view, int i, int j) const;
    bool masked(const InspectorView& view, int i, int j) const;

private:
    const RelationMap* stored(const InspectorView& view) const;
    const RelationMap* stored(MapKind kind, int layer, int index) const;
    /// The map of a view, alpha x r multiplied out into `made`.
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
