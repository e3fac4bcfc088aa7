// SPDX-License-Identifier: GPL-3.0-or-later
// Text output of the results of a run or an evaluation.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "types/metric.h"

namespace relascope::cli {

/// "93.0 %".
std::string percentText(double fraction);
/// "accuracy 93.0 %", "perplexity 6.21", "mean error 0.0123".
std::string metricText(const std::string& metric, double value);
/// The main metrics of a point: "sequence accuracy 12.0 %, accuracy 93.0 %".
std::string scoreText(const std::vector<std::pair<std::string, double>>& values);
/// null where a number is not finite, as JSON has none.
nlohmann::ordered_json finiteJson(double value);

}  // namespace relascope::cli
