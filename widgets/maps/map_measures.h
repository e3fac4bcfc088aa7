// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that describe a map as a whole, to sort and find maps by. Uses only the standard library.
#pragma once

#include <compare>

#include "types/relation_map.h"

namespace relascope::widgets {

/// One map of a result.
struct MapId {
    MapKind kind = MapKind::Relation;
    int layer = 0;
    int index = 0;
    auto operator<=>(const MapId&) const = default;
};

/// The order of maps: by number, or by one of their measures, the largest first.
enum class MapOrder { Index, Magnitude, Symmetry, Entropy, Spread };
inline constexpr int kMapOrders = 5;

/// NaN where a map has no such measure.
struct MapMeasures {
    float magnitude;  ///< largest |value|
    /// |R + R^T| / (|R + R^T| + |R - R^T|), Frobenius norms off the diagonal: 1 for a symmetric
    /// map, 0 for an antisymmetric one. NaN where a causal mask leaves one half of it empty.
    float symmetry;
    float entropy;  ///< of attention: mean over its rows, in nats
    float spread;   ///< standard deviation

    MapMeasures();
    /// The one that an order sorts by; the magnitude for Index.
    float of(MapOrder order) const;
};

/// Of all rows, or of `mostRows` spread evenly over a larger map.
MapMeasures measuresOf(const RelationMap& map, int mostRows = 64);

/// "largest |value|", "symmetry".
const char* measureName(MapOrder order);
/// What the measure says, in a sentence.
const char* measureText(MapOrder order);

}  // namespace relascope::widgets
