// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the main metric of a run and of its test results.
#pragma once

#include <QString>
#include <string>
#include <string_view>

#include "types/metric.h"
#include "types/run_info.h"
#include "widgets/curves/curve_types.h"

namespace relascope::widgets {

/// "93.0%", "6.21", "0.0123"; a dash if there is none.
QString metricText(std::string_view key, double value);
/// "sequence accuracy".
QString metricName(std::string_view key);
/// For narrow places: "seq. acc.", "ppl".
QString metricShort(std::string_view key);

/// The best value of RunInfo::metric on validation; NaN if there is none.
inline double bestOf(const RunInfo& info) {
    return info.best(info.metric);
}
/// The first tested split, which represents the result of the run; nullptr before the test.
const SplitResult* shownResult(const RunInfo& info);
/// The key of the value shown: the run's metric, otherwise accuracy; empty if it has neither.
std::string resultMetric(const RunInfo& info);
/// One line per split: "pentos: accuracy 93.0%, loss 0.213 (10,000 examples)".
QString resultLines(const RunInfo& info);

}  // namespace relascope::widgets
