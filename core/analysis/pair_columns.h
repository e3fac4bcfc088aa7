// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of pair accuracies, which every analysis of minimal pairs shows. Does not include
// torch.
#pragma once

#include "analysis/pair_accuracy.h"
#include "answers/column_table.h"

namespace relascope::core {

/// `named`: rows are phenomena; else the row is of all pairs.
ColumnTable<PairAccuracy> accuracyColumns(bool named);

}  // namespace relascope::core
