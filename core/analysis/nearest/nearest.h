// SPDX-License-Identifier: GPL-3.0-or-later
// Nearest pictures: which pictures have features most like those of one, of models whose answer are
// features (interventions.md section 19). Does not include torch.
#pragma once

#include <cstdint>

#include "analysis/analysis.h"
#include "types/answer.h"

namespace relascope {

struct NearestOptions {
    std::int64_t example = 0;      ///< the picture that others are compared with, of the split
    std::int64_t top = 10;         ///< pictures that are shown
    std::int64_t examples = 1000;  ///< pictures that are compared, at most
};

}  // namespace relascope

namespace relascope::core {

const FieldTable<NearestOptions>& nearestFields();
/// The answer without rows: how many pictures have one of their own class as the nearest, and the
/// table "nearest".
Answer emptyNearest();

}  // namespace relascope::core
