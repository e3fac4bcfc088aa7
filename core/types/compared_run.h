// SPDX-License-Identifier: GPL-3.0-or-later
// A run beside others: what stands for its result, and what was published of its model.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "types/metric.h"
#include "types/run_info.h"

namespace relascope {

/// RunInfo::metric on validation of the weights that the run keeps; NaN if there is none.
inline double keptOf(const RunInfo& info) {
    return info.kept.value(info.metric);
}

/// The first tested split, which represents the result of the run; nullptr before the test.
inline const SplitResult* shownResult(const RunInfo& info) {
    return info.results.empty() ? nullptr : &info.results.front();
}

/// The key of the value shown of that split: the run's metric, otherwise accuracy; empty if it has
/// neither.
inline std::string resultMetric(const RunInfo& info) {
    const auto* result = shownResult(info);
    if (!result) return {};
    for (const std::string& key : {info.metric, std::string(metricInfo(Metric::Accuracy).key)})
        if (!std::isnan(result->value(key))) return key;
    return {};
}

struct ComparedRun {
    RunInfo info;
    std::string note;  ///< the user's note (run/run_notes.h)
    double published = std::numeric_limits<double>::quiet_NaN();  ///< accuracy 0..1; NaN: none
    /// The value compared with the published one; NaN: the accuracy on validation.
    double ours = std::numeric_limits<double>::quiet_NaN();
    std::string publishedText;  ///< lines: split, metric and all published values

    double compared() const { return std::isnan(ours) ? info.kept.value("accuracy") : ours; }
    /// What ours is more than the published one; NaN where one of them is missing.
    double difference() const { return compared() - published; }
};

}  // namespace relascope
