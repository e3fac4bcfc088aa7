// SPDX-License-Identifier: GPL-3.0-or-later
// What the examples of a part hold: labels, lengths, ranges of numbers, pixels.
#pragma once

#include <QString>
#include <functional>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "types/data_options.h"

namespace relascope::app {

/// Of the first examples of a part.
struct DataStatistics {
    std::int64_t counted = 0;
    QString what = QStringLiteral("class");  ///< that the bars count
    std::vector<std::pair<QString, qint64>> bars;
    std::vector<std::pair<QString, QString>> rows;
};

/// Counts at most `most` examples. `wanted` is asked for each of them; false ends in Cancelled.
DataStatistics countExamples(const core::Dataset& data, const DataOptions& options,
                             std::int64_t most, const std::function<bool()>& wanted);

}  // namespace relascope::app
