// SPDX-License-Identifier: GPL-3.0-or-later
// The edits of a map of the inspector: which hook points a relation or head is made of. Does not
// include torch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "types/edit.h"
#include "types/relation_map.h"

namespace relascope::core {

/// A map as a probe names it.
struct MapPlace {
    MapKind kind = MapKind::Relation;
    std::string layer;          ///< ProbeLayer::name: "layer 2", "decoder 1 cross"
    int index = 0;              ///< relation or head, from 0
    int rows = 0, columns = 0;  ///< size of the map; 0: the size of its hook points
    std::string fitted = {};    ///< RelationMap::fitted
};

/// The hook points of one map. Names are empty where the model has no such point.
struct MapTarget {
    std::string part;    ///< the point that takes the map out: r itself, or a head's output
    std::string axis;    ///< "relation" or "head"; empty: the point has one map
    std::string values;  ///< point of the map's values: r, or attention weights; empty: none
    std::string scores;  ///< point before the softmax, where an edge is cut
    std::string block;   ///< prefix of the layer's points: "blocks.1"; empty in models of one layer
    int index = 0;
    std::int64_t count = 0;  ///< maps of that axis in the layer
    /// Places of the first row and column of the map along i and j of the hook points.
    std::int64_t firstRow = 0, firstColumn = 0;
};

/// The point of a part of a block, "attn.hook_z" in "blocks.1"; without a block the name itself. A
/// learned query, "pool", is an attention itself: its points have no "attn.".
std::string pointIn(const std::string& block, const std::string& name);
/// Whether the name of any of the points begins with `prefix`.
bool hasPrefix(const std::vector<PointInfo>& points, const std::string& prefix);

/// The hook points of a map. Throws OptionError if it has none.
MapTarget targetOf(const MapPlace& place, const std::vector<PointInfo>& points);

/// The edit of the whole map by `op`: zero, mean, resample or scale.
Edit partEdit(const MapTarget& target, EditOp op, double factor = 1.0);
/// The edit of all other maps of this kind in the layer by `op`. Empty if there is no other.
std::optional<Edit> othersEdit(const MapTarget& target, EditOp op);
/// Attention weights frozen: the same for all open cells of a row. Throws for relations.
Edit uniformEdit(const MapTarget& target);
/// Cuts the edge from sender j to receiver i of one head, or of all heads of its kind.
Edit edgeEdit(const MapTarget& target, std::int64_t i, std::int64_t j, bool allHeads);
/// Sets the cell (i, j) of the map. Throws if the map is no tensor of the forward pass.
Edit cellEdit(const MapTarget& target, std::int64_t i, std::int64_t j, double value);
/// Takes out the symbols of object `position`, or exchanges them with those of `other` (from 0).
/// Throws for models whose symbols do not belong to objects.
Edit symbolEdit(const MapTarget& target, const std::vector<PointInfo>& points,
                std::int64_t position, std::optional<std::int64_t> other);
/// Replaces the stream that enters the layer at `position` by the stream of the input `from`.
Edit streamEdit(const MapTarget& target, const std::vector<PointInfo>& points,
                std::int64_t position, const std::string& from);

/// Whether an enabled edit takes the whole map out: zero, mean, resample or scale 0.
bool takesOut(const EditList& list, const MapTarget& target);
/// The index of an edit with the operation, point and places of `edit`; -1 if there is none.
int indexOf(const EditList& list, const Edit& edit);

}  // namespace relascope::core
