// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of a run folder in the forms that other programs read: TensorBoard, CSV, JSON.
#pragma once

#include <string>

namespace relascope::core {

/// The name of a run's folder in a folder of TensorBoard's: "quick-dat-s0", or "quick-dat/seed-0"
/// for a run of several seeds.
std::string tensorBoardName(const std::string& run);

/// Writes FOLDER/NAME/events.out.tfevents.STARTED.relascope with the metrics, notes, generated
/// texts, options and results of a run, completely or not at all, and returns its path. The time of
/// a point is the start of the run plus its seconds of training and the pauses before it, which
/// follow from the times of the notes. Throws FileError, also if the folder holds other event
/// files, which would show points twice.
std::string exportTensorBoard(const std::string& run, const std::string& folder);

/// Every point of metrics.jsonl as CSV: "split,step,epoch,examples,seconds" and a column for each
/// value, empty where a point has none, "nan" where it is not finite. Numbers read back exactly.
std::string metricsCsv(const std::string& run);

/// A run as JSON: {"run": NAME, "info": run.json, "metrics": [...], "events": [...]}, as in its
/// files. Throws FileError.
std::string runJson(const std::string& run);

}  // namespace relascope::core
