// SPDX-License-Identifier: GPL-3.0-or-later
// The values behind a picture of a map, as an inspector processes them. Uses only the standard
// library, so that tests can check every value exactly.
#pragma once

#include <array>
#include <compare>
#include <vector>

#include "types/map_cells.h"
#include "types/relation_map.h"

namespace relascope::core {
class HeadPlaces;
}  // namespace relascope::core

namespace relascope::widgets {

/// TopK keeps the k entries of largest size in each row i and sets the others to 0.
enum class Processing { Raw, Tanh, Sigmoid, SoftmaxOverJ, TopK, Sign };
/// The values that share one colour scale. Fixed is -1..+1 for signed values, else 0..1.
enum class Range { ThisMap, ThisLayer, WholeModel, Fixed };

const char* processingName(Processing processing);
const char* rangeName(Range range);

/// One value through Tanh, Sigmoid or Sign; the others need the row and return it as it is.
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
/// The fraction of finite, unmasked cells that tanh or sigmoid maps to within 1 % of an end of its
/// range; 0 for other processing.
double saturatedFraction(const MapValues& values, Processing processing);

// Numbers that describe a map as a whole, to sort and find maps by. Uses only the standard library.

/// One map of a result.
struct MapId {
    MapKind kind = MapKind::Relation;
    int layer = 0;
    int index = 0;
    auto operator<=>(const MapId&) const = default;
};

/// The order of maps: by number, or by one of their measures, the largest first.
/// The orders from Previous on are measures of attention to places of a kind (head_places.h).
enum class MapOrder {
    Index,
    Magnitude,
    Symmetry,
    Entropy,
    Spread,
    Previous,
    Duplicate,
    Induction,
    Itself,
    First,
    ClassToken,
    Neighbours
};
inline constexpr int kMapOrders = 12, kFirstPlace = 5;

/// NaN where a map has no such measure.
struct MapMeasures {
    float magnitude;  ///< largest |value|
    /// |R + R^T| / (|R + R^T| + |R - R^T|), Frobenius norms off the diagonal: 1 for a symmetric
    /// map, 0 for an antisymmetric one. NaN where a causal mask leaves one half of it empty.
    float symmetry;
    float entropy;  ///< entropy of attention: mean over its rows, in nats
    float spread;   ///< standard deviation
    std::array<float, kMapOrders - kFirstPlace> places;  ///< shares for the orders from Previous on

    MapMeasures();
    /// The one that an order sorts by; the magnitude for Index.
    float of(MapOrder order) const;
};

/// Reads all rows, or `mostRows` spread evenly over a larger map. `places` are those of the input;
/// without them attention to places is not measured.
MapMeasures measuresOf(const RelationMap& map, const core::HeadPlaces* places = nullptr,
                       int mostRows = 64);

/// "largest |value|", "symmetry".
const char* measureName(MapOrder order);
/// What the measure says, in a sentence.
const char* measureText(MapOrder order);

}  // namespace relascope::widgets
