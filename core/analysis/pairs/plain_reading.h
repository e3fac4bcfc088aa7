// SPDX-License-Identifier: GPL-3.0-or-later
// Explains a map by its shape alone, before any attribute of pairs is considered. Pure numbers: no
// model, no LibTorch.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/pairs/relation_statistics.h"

namespace relascope::core {

struct DescribedMap {
    PairShape shape;
    PairValues values;
    std::array<double, 5> shares{};  ///< varianceShares()
    double mean = 0.0, sd = 0.0;     ///< over the pairs
    bool head = false;               ///< attention, whose rows add up to 1
    double first = 0.0;              ///< attention to the first token of a text; NaN: not known
    int columns = 0;                 ///< columns of the grid of the objects; 0: none
    /// The object that begins the line of each object of a text, [examples, objects], -1: none of
    /// them; may be empty.
    std::vector<int> lineStarts = {};
    /// Whether places are empty: one empty, and both; empty where places never are.
    PairTruth oneEmpty = {}, bothEmpty = {};
};

/// "is alike everywhere", what PlaceShares reads of a head, "depends on the places alone (0.97 of
/// its variance)", "reads i alone, not the pair (0.95 of its variance)", "tells empty places apart
/// (0.93 of its variance)"; empty: none of these explains it. A share of the variance above 0.9
/// explains, a spread below 0.02 of the mean is none.
std::string plainReading(const DescribedMap& map);

}  // namespace relascope::core
