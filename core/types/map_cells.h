// SPDX-License-Identifier: GPL-3.0-or-later
// The cells of a map as they are coloured, and the ends of their colour scale: the window and the
// pictures for other programs share them. The functions are in core/probe, without LibTorch.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "types/relation_map.h"

namespace relascope {

/// The two ends of a colour scale, low < high.
struct Limits {
    float low = 0.0F;
    float high = 1.0F;
    bool operator==(const Limits&) const = default;
};

/// Smallest and largest of the values that are finite and not masked; `any` is false if there are
/// none.
struct Extent {
    float low = 0.0F;
    float high = 0.0F;
    bool any = false;

    void include(const Extent& other);
    float magnitude() const;  ///< the larger of |low| and |high|
    bool operator==(const Extent&) const = default;
};

/// A matrix ready to be coloured. Masked cells hold 0 and are never coloured by value.
struct MapValues {
    enum class Mask { None, Above, Below };  ///< which side of the diagonal is masked

    int rows = 0;
    int columns = 0;
    std::vector<float> values;  ///< row-major
    Mask mask = Mask::None;
    /// NaN is a cell that has no value, and looks as masked ones do: of a fitted relation, whose
    /// objects are not all of the model's. Otherwise NaN is a number that went wrong.
    bool gaps = false;

    bool empty() const { return rows <= 0 || columns <= 0; }
    float at(int row, int column) const {
        return values[static_cast<std::size_t>(row) * columns + column];
    }
    bool masked(int row, int column) const {
        return (mask == Mask::Above && column > row) || (mask == Mask::Below && column < row) ||
               isGap(row, column);
    }
    bool isGap(int row, int column) const { return gaps && at(row, column) != at(row, column); }
    struct Row {
        std::vector<float> values;
        std::vector<bool> masked;
    };
    Row row(int row) const;
    bool operator==(const MapValues&) const = default;
};

MapValues::Mask maskOf(const RelationMap& map);
/// Whether the map may have cells without a value (MapValues::gaps).
bool hasGaps(const RelationMap& map);
/// Columns of a row that are not masked: [first, last).
std::pair<int, int> openColumns(MapValues::Mask mask, int row, int columns);
/// The values of the whole map, NaN where it has none.
MapValues valuesOf(const RelationMap& map);
/// Blocks of `block` x `block` cells, each the value of largest size in it (NaN if one is NaN; of
/// maps with gaps if all are): thin lines stay visible, unlike with a mean. A block is masked if
/// its corner nearest to the diagonal is.
MapValues pooled(const MapValues& values, int block);
MapValues pooled(const RelationMap& map, int block);
/// Pools into `pixels` blocks for every `cells` cells, some of them a cell larger than others.
MapValues pooled(const MapValues& values, int pixels, int cells);

Extent extentOf(const RelationMap& map);
Extent extentOf(const MapValues& values);
/// The extent of `count` rows spread evenly over the map, the last one included: an estimate.
Extent extentOfRows(const RelationMap& map, int count);
/// Minimum and maximum of `count` values, infinities included, NaN ignored.
Extent plainExtent(const float* row, int count);

/// Whether the colour scale of such a map ends at percentiles by default: maps of r, which has no
/// bounds, and of attention among so many objects that nearly all weights are tiny compared with
/// those of the first rows.
bool endsAtPercentiles(const RelationMap& map);
inline constexpr int kManyObjects = 100;
/// Values that are finite and not masked: all of a small map, or up to `most` spread evenly over a
/// large one, which is enough for percentiles.
std::vector<float> valueSample(const RelationMap& map, int most = 4096);
/// The sample of a map for the percentiles of a scale that `maps` maps share. All maps have the
/// same weight, independent of their size.
std::vector<float> scaleSample(const RelationMap& map, int maps);
/// The 2nd and 98th percentile, interpolated between neighbours: insensitive to extremes.
Extent percentiles(std::vector<float> values);
/// The scale that shows such values: symmetric about 0 when signed, from 0 when all are >= 0. A
/// scale of no width (constant or no values) becomes one of width 1 or 2.
Limits limitsOf(const Extent& extent, bool isSigned);

// Padding of sequences, which is never shown, and the sides of maps. The functions are in
// core/probe, without LibTorch.

/// The side along the rows (columns) of a layer's maps, an index of ProbeResult::sides; 0 where
/// the result does not say.
int rowSide(const ProbeResult& result, int layer);
int columnSide(const ProbeResult& result, int layer);

/// The result without the padding of its texts, in sides and maps; unchanged if there is none.
/// `leftOut` is set to the number of source elements removed.
std::shared_ptr<const ProbeResult> withoutPadding(std::shared_ptr<const ProbeResult> result,
                                                  int* leftOut);

}  // namespace relascope
