// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of a result by kind, layer and index, and the objects along their sides.
#pragma once

#include <QString>
#include <array>
#include <memory>
#include <vector>

#include "widgets/inspector/inspector_view.h"

namespace relascope::widgets {

class MapIndex {
public:
    const ProbeResult* result() const { return m_result.get(); }
    std::shared_ptr<const ProbeResult> shared() const { return m_result; }
    /// The number of padding elements removed from the source.
    int paddingLeftOut() const { return m_padding; }

    /// The map, unless there is none or it cannot be read.
    const RelationMap* find(MapKind kind, int layer, int index) const;
    /// The number of maps of a kind in a layer; for alpha x r the number of relations.
    int count(MapKind kind, int layer) const;
    bool has(MapKind kind) const;  ///< in any layer
    int layers() const;
    /// Whether the forward pass has not reached the layer yet.
    bool awaited(int layer) const;
    /// The number of layers that have maps.
    int computedLayers() const;
    QString layerName(int layer) const;
    /// Sides of the result along the rows and columns of a view; the columns of a table of symbols
    /// are symbols of a library, side -1.
    int rowSide(const InspectorView& view) const;
    int columnSide(const InspectorView& view) const;
    /// The number of objects of a side; 0 for symbols.
    int objects(int side) const;

protected:
    /// Sets the result, without the padding of texts.
    void setIndexed(std::shared_ptr<const ProbeResult> result);
    const RelationMap* stored(const InspectorView& view) const;

private:
    /// The maps of one kind in one layer, by index.
    using Maps = std::vector<const RelationMap*>;

    const Maps* mapsOf(MapKind kind, int layer) const;
    std::shared_ptr<const ProbeResult> m_result;
    int m_padding = 0;
    std::array<std::vector<Maps>, 5> m_index;  ///< by kind and layer
};

/// Whether the kind shows relations: r, or alpha x r.
bool isRelation(MapKind kind);
/// The kind of the stored maps that it is made of: relations for alpha x r.
MapKind storedKind(MapKind kind);

}  // namespace relascope::widgets
