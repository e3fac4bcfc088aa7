// SPDX-License-Identifier: GPL-3.0-or-later
// The values behind a picture of a map: their processing and the limits of their colour scale. Uses
// only the standard library, so that tests can check every value exactly.
#pragma once

#include <cstddef>
#include <vector>

#include "types/relation_map.h"

namespace relascope::widgets {

/// TopK keeps the k entries of largest size in each row i and sets the others to 0.
enum class Processing { Raw, Tanh, Sigmoid, SoftmaxOverJ, TopK };
/// The values that share one colour scale. Fixed is -1..+1 for signed values, else 0..1.
enum class Range { ThisMap, ThisLayer, WholeModel, Fixed };

const char* processingName(Processing processing);
const char* rangeName(Range range);

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

    bool empty() const { return rows <= 0 || columns <= 0; }
    float at(int row, int column) const {
        return values[static_cast<std::size_t>(row) * columns + column];
    }
    bool masked(int row, int column) const {
        return mask == Mask::None ? false : mask == Mask::Above ? column > row : column < row;
    }
    struct Row {
        std::vector<float> values;
        std::vector<bool> masked;
    };
    Row row(int row) const;
    bool operator==(const MapValues&) const = default;
};

/// One value through Tanh or Sigmoid; the others need the row and return it as it is.
float processedValue(float value, Processing processing);
/// The whole map. Softmax runs over the cells of a row that are not masked; a row with a NaN or
/// +inf, or with nothing finite, becomes NaN. `topK` is at least 1.
MapValues processed(const RelationMap& map, Processing processing, int topK = 1);
/// One row of it, [columns]; empty outside of the map.
std::vector<float> processedRow(const RelationMap& map, int row, Processing processing,
                                int topK = 1);
/// alpha_ij r_ij; both maps of the same shape, otherwise empty. Where one of them has a source, so
/// has the product.
RelationMap product(const RelationMap& attention, const RelationMap& relation);
/// Rows and columns exchanged, the mask with them.
MapValues transposed(const MapValues& values);
/// Blocks of `block` x `block` cells, each the value of largest size in it (NaN if one is NaN):
/// thin lines stay visible, unlike with a mean. A block is masked if its corner nearest to the
/// diagonal is.
MapValues pooled(const MapValues& values, int block);
MapValues pooled(const RelationMap& map, int block);
/// The same with `pixels` blocks for every `cells` cells, some of them a cell larger than others.
MapValues pooled(const MapValues& values, int pixels, int cells);

Extent extentOf(const RelationMap& map);
Extent extentOf(const MapValues& values);
/// The same of `count` rows spread evenly over the map, the last one included: an estimate.
Extent extentOfRows(const RelationMap& map, int count);
/// Values that are finite and not masked: all of a small map, or up to `most` spread evenly over a
/// large one, which is enough for percentiles.
std::vector<float> valueSample(const RelationMap& map, int most = 4096);
/// The 2nd and 98th percentile, interpolated between neighbours: insensitive to extremes.
Extent percentiles(std::vector<float> values);
/// The fraction of finite, unmasked cells that tanh or sigmoid maps to within 1 % of an end of its
/// range; 0 for other processing.
double saturatedFraction(const MapValues& values, Processing processing);
/// The scale that shows such values: symmetric about 0 when signed, from 0 when all are >= 0. A
/// scale of no width (constant or no values) becomes one of width 1 or 2.
Limits limitsOf(const Extent& extent, bool isSigned);

}  // namespace relascope::widgets
