// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the main metric of a run and of its test results.
#pragma once

#include <optional>
#include <string_view>

#include <QString>

#include "types/compared_run.h"
#include "types/metric.h"

namespace relascope::widgets {

/// metricValueText(), as the window shows it.
QString metricText(const MetricInfo& metric, double value);
inline QString metricText(std::string_view key, double value) {
    return metricText(metricInfo(key), value);
}
/// "sequence accuracy".
QString metricName(std::string_view key);
/// " ppl" behind a perplexity; nothing behind a percentage, which has its sign.
QString unitBehind(std::string_view metric);
/// For narrow places: "seq. acc.", "ppl".
QString metricShort(std::string_view key);

/// "validation accuracy 93.0% (weights of step 400); best seen 97.2% (step 480, not kept)"; empty
/// before the first evaluation.
QString keptText(const RunInfo& info);
/// "step 256, the best (stopped early at 576) · validation 95.9 % · seed 0": of the weights that
/// are shown, or without a step of those that the run keeps.
QString weightsText(const RunInfo& info, std::optional<qint64> shown);
/// One line per split: "pentos: accuracy 93.0%, loss 0.213 (10,000 examples)".
QString resultLines(const RunInfo& info);

}  // namespace relascope::widgets
