// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of a checkpoint and the values of one of them as tables.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "types/answer.h"
#include "types/checkpoint_info.h"

namespace relascope::core {

/// The table "tensors", in the order given. `statistics` returns what is known of the values of a
/// tensor, or null; a tensor that shares its bytes has none of its own.
Table tensorsTable(
    const std::vector<StoredTensor>& tensors,
    const std::function<const TensorStatistics*(const std::string& name)>& statistics);

/// The table "histogram": bins of equal width, from the least to the largest finite value. No rows
/// where no value is finite.
Table histogramTable(const TensorStatistics& statistics);

/// Name, shape, type and statistics of a tensor as values of the answer itself, and its histogram.
Answer tensorAnswer(const StoredTensor& tensor, const TensorStatistics& statistics);

}  // namespace relascope::core
