// The number that stands for a run, and what it reached on the test splits, in words.
#pragma once

#include <QString>
#include <optional>
#include <string>

#include "types/metric.h"
#include "types/run_info.h"
#include "widgets/curves/curve_types.h"

namespace relascope {

/// A metric by its name in metrics.jsonl; nullopt for one that the curves do not know.
std::optional<CurveMetric> metricNamed(const std::string& key);
/// "93.0%", "6.21", "0.0123"; a dash where there is none. Shares are known by their names.
QString metricText(const std::string& key, double value);
/// "sequence accuracy".
QString metricWords(const std::string& key);
/// For narrow places: "seq. acc.", "ppl".
QString metricShort(const std::string& key);
/// Whether values are shares, shown as percentages.
bool isShareMetric(const std::string& key);

/// The best value of RunInfo::metric on validation; NaN where none was measured. Rows of a run that
/// is being made know it by its loss or accuracy.
double bestOf(const RunInfo& info);
/// The split whose result is shown in one number, the first; nullptr before a run was tested.
const SplitResult* shownResult(const RunInfo& info);
/// Which of its values is shown: the run's metric, else its accuracy; empty where neither is there.
std::string resultMetric(const RunInfo& info);
/// A line a split: "pentos: accuracy 93.0%, loss 0.213 (10,000 examples)".
QString resultLines(const RunInfo& info);

}  // namespace relascope
