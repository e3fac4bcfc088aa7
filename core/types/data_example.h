// SPDX-License-Identifier: GPL-3.0-or-later
// An example of any data set as it is shown, and statistics of many examples.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "types/relation_map.h"

namespace relascope {

struct DataExample {
    ProbeSample sample;
    std::string answer;  ///< the answer as text; empty if there is a label
    /// The objects of the source in the order of the answer; empty if the answer is not an order.
    std::vector<int> order;
};

/// Statistics of the first examples of a split.
struct DataStatistics {
    std::int64_t counted = 0;
    std::string what = "class";  ///< what the bars count
    bool pieces = false;         ///< the bars are named by pieces of a text (types/text_piece.h)
    std::vector<std::pair<std::string, std::int64_t>> bars;
    std::vector<std::pair<std::string, std::string>> rows;
};

}  // namespace relascope
