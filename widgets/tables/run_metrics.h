// SPDX-License-Identifier: GPL-3.0-or-later
// The number that stands for a run, and what it reached on the test splits, in words.
#pragma once

#include <QString>
#include <string>
#include <string_view>

#include "types/metric.h"
#include "types/run_info.h"
#include "widgets/curves/curve_types.h"

namespace relascope::widgets {

/// "93.0%", "6.21", "0.0123"; a dash where there is none.
QString metricText(std::string_view key, double value);
/// "sequence accuracy".
QString metricName(std::string_view key);
/// For narrow places: "seq. acc.", "ppl".
QString metricShort(std::string_view key);

/// The best value of RunInfo::metric on validation; NaN where none was measured.
inline double bestOf(const RunInfo& info) {
    return info.best(info.metric);
}
/// The split whose result is shown in one number, the first; nullptr before a run was tested.
const SplitResult* shownResult(const RunInfo& info);
/// Which of its values is shown: the run's metric, else its accuracy; empty where neither is there.
std::string resultMetric(const RunInfo& info);
/// A line a split: "pentos: accuracy 93.0%, loss 0.213 (10,000 examples)".
QString resultLines(const RunInfo& info);

}  // namespace relascope::widgets
