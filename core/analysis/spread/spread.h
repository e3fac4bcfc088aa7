// SPDX-License-Identifier: GPL-3.0-or-later
// Spread: how widely each attention head looks (interventions.md section 17). Does not include
// torch.
#pragma once

#include <cstdint>

#include "analysis/analysis.h"
#include "types/answer.h"

namespace relascope {

struct SpreadOptions {
    std::int64_t examples = 100;  ///< at most; of text a tenth as many windows
};

}  // namespace relascope

namespace relascope::core {

const FieldTable<SpreadOptions>& spreadFields();
/// The answer without rows: "examples", and the table "heads" with a line for each head.
Answer emptySpread();

}  // namespace relascope::core
