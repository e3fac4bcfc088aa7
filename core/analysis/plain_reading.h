// SPDX-License-Identifier: GPL-3.0-or-later
// Explains a map by its shape alone, before any attribute of pairs is considered. Pure numbers: no
// model, no LibTorch.
#pragma once

#include <array>
#include <string>

#include "analysis/relation_statistics.h"

namespace relascope::core {

struct DescribedMap {
    PairShape shape;
    PairValues values;
    std::array<double, 5> shares{};  ///< varianceShares()
    double mean = 0.0, sd = 0.0;     ///< over the pairs
    bool head = false;               ///< attention, whose rows add up to 1
    double first = 0.0;              ///< attention to the first token of a text; NaN: not known
    /// Whether places are empty: one empty, and both; empty where places never are.
    PairTruth oneEmpty = {}, bothEmpty = {};
};

/// "is alike everywhere", "attends 2 tokens back (0.98 of its weight)", "attends to the first token
/// (0.95 of its weight)", "depends on the places alone (0.97 of its variance)", "reads i alone, not
/// the pair (0.95 of its variance)", "tells empty places apart (0.93 of its variance)"; empty: none
/// of these explains it. A share above 0.9 explains, a spread below 0.02 of the mean is none.
std::string plainReading(const DescribedMap& map);

}  // namespace relascope::core
