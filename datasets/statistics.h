// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of the examples of a split: labels, lengths, ranges of numbers, pixels.
#pragma once

#include <cstdint>
#include <functional>

#include "data/dataset.h"
#include "types/data_example.h"
#include "types/data_options.h"

namespace relascope::datasets {

/// Counts at most `most` examples. Throws Cancelled when `wanted`, called for each of them, returns
/// false.
DataStatistics countExamples(const core::Dataset& data, const DataOptions& options,
                             std::int64_t most, const std::function<bool()>& wanted);

}  // namespace relascope::datasets
