// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of the examples of a split: labels, lengths, ranges of numbers, pixels.
#pragma once

#include <QString>
#include <functional>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "types/data_options.h"

namespace relascope::app {

/// Statistics of the first examples of a split.
struct DataStatistics {
    std::int64_t counted = 0;
    QString what = QStringLiteral("class");  ///< counted by the bars
    std::vector<std::pair<QString, qint64>> bars;
    std::vector<std::pair<QString, QString>> rows;
};

/// Counts at most `most` examples. Throws Cancelled when `wanted`, called for each of them, returns
/// false.
DataStatistics countExamples(const core::Dataset& data, const DataOptions& options,
                             std::int64_t most, const std::function<bool()>& wanted);

}  // namespace relascope::app
