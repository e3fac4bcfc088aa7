// SPDX-License-Identifier: GPL-3.0-or-later
// QK components: what a map compares, from its weights (interventions.md section 15). Does not
// include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/answer.h"

namespace relascope {

struct DictionaryOptions {
    std::int64_t layer = 1, index = 1;  ///< from 1
    std::string kind = "relation";
    std::string relation;  ///< the file of a fitted relation, in place of the map; empty: the map
    std::string stack;     ///< empty: the layer counts as in the inspector
    std::string token;     ///< an id or a text; empty: none
    std::int64_t offset = 0;
    std::string at;         ///< "I,J"; empty: the mean of the positions
    std::string weights;    ///< "even", a text file; empty: the data, or even without
    std::string attribute;  ///< attribute of the atlas, for patches and sets
    std::int64_t top = 20, components = 8, examples = 1000;
};

}  // namespace relascope

namespace relascope::core {

/// The share of the variance of scores that the values of a fact explain, without what as many
/// values explain by chance (omega^2; Hays 1963); of a fact whose values have an order, what a line
/// through them does. `facts`: the value of each score, -1: not known, left out. NaN where a value
/// without an order has fewer than 8 scores, or nothing varies.
double factShare(const std::vector<double>& scores, const std::vector<std::int64_t>& facts,
                 bool ordered);

/// The answer without rows, of "tokens", "patches" or "objects". `softmax`: it follows
/// the scores.
Answer dictionaryTables(const std::string& objects, bool softmax);
/// Says in a sentence what the answer has, and drops its tables without rows. `where`: the
/// positions of tokens, " at 5 and 3"; may be empty.
Answer dictionaryAnswer(Answer answer, const std::string& where);

const FieldTable<DictionaryOptions>& dictionaryFields();

}  // namespace relascope::core
