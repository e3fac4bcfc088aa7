// SPDX-License-Identifier: GPL-3.0-or-later
// The answer of the logit lens by layer and column. Each cell has the same number of answers.
#pragma once

#include <string>
#include <vector>

#include "types/answer.h"

namespace relascope::core {

/// Columns of an answer, which it must not outlive.
struct LensTable {
    /// Throws Error for another answer than that of a lens.
    explicit LensTable(const Answer& answer);
    explicit LensTable(Answer&&) = delete;

    const std::vector<std::string>& layers;  ///< "embedding", "layer 1", ...
    // A value for each column; positions are NaN where the whole input has one answer.
    const std::vector<double>& positions;
    const std::vector<std::string>&inputs, &own;
    const std::vector<double>&ownIds, &ownProbabilities;
    // A value for each answer of each cell, layer by layer and column by column.
    const std::vector<std::string>&k, &names;
    const std::vector<double>&ids, &probabilities, &probabilityOfOwn, &ranks, &entropies;
    std::size_t each = 0;  ///< how many answers a cell has

    std::size_t columns() const { return own.size(); }
    bool whole() const { return columns() == 1 && positions[0] != positions[0]; }
    /// The first answer of a cell, the likeliest one.
    std::size_t first(std::size_t layer, std::size_t column) const {
        return (layer * columns() + column) * each;
    }
    bool asked(std::size_t at) const { return k[at] == "asked"; }
};

}  // namespace relascope::core
