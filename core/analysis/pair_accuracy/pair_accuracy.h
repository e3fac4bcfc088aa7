// SPDX-License-Identifier: GPL-3.0-or-later
// Pair accuracy: how often a language model finds the good sentence of a minimal pair more likely
// than the wrong ones, by phenomenon (interventions.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "analysis/analysis.h"
#include "types/answer.h"

namespace relascope {

struct PairOptions {
    std::string score = "sum";  ///< or "mean", per token
    std::int64_t examples = 0;  ///< pairs of a phenomenon, at most; 0: all
    std::int64_t tokens = 100;  ///< pairs whose tokens are listed
    std::int64_t untrained = 4;
    bool along = false;  ///< also at every kept step of the run
};

}  // namespace relascope

namespace relascope::core {

/// The table of the pairs and that of their tokens, without rows.
std::pair<Table, Table> pairTables();
const FieldTable<PairOptions>& pairFields();

}  // namespace relascope::core
