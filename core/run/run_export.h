// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of a run folder in the forms that other programs read: CSV, JSON.
#pragma once

#include <string>

namespace relascope::core {

/// The name of a run: "quick-dat-s0", or "quick-dat/seed-0" of a run of several seeds.
std::string exportName(const std::string& run);

/// Every point of metrics.jsonl as CSV: "split,step,epoch,examples,seconds" and a column for each
/// value, empty where a point has none, "nan" where it is not finite. Numbers read back exactly.
std::string metricsCsv(const std::string& run);

/// A run as JSON: {"run": NAME, "info": run.json, "metrics": [...], "events": [...]}, as in its
/// files. Throws FileError.
std::string runJson(const std::string& run);

}  // namespace relascope::core
