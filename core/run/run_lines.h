// SPDX-License-Identifier: GPL-3.0-or-later
// metrics.jsonl and events.jsonl of a run folder (formats.md section 9), one JSON object a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "types/metric.h"
#include "types/train_event.h"

namespace relascope::core {

/// All complete lines of metrics.jsonl from byte `*position` on; sets it to the end of the lines
/// read.
std::vector<MetricPoint> readMetrics(const std::string& path, std::uint64_t* position = nullptr);
std::vector<Note> readEvents(const std::string& path);

/// The interventions that the run trains with after that step, as events.jsonl says: those of the
/// last line about them up to there. Where a run was resumed from an earlier step, the last one
/// written counts.
EditList editsAfterStep(const std::string& path, std::int64_t step);

/// A metric point as a line of metrics.jsonl, without the line end, and back (nothing for a
/// damaged line).
std::string metricToLine(const MetricPoint& point);
std::optional<MetricPoint> metricFromLine(const std::string& line);
/// A note of now as a line of events.jsonl, without the line end.
std::string noteToLine(const Note& note);

/// Appends lines to a file with one write call, so that a killed process can leave at most one
/// incomplete line, and clears `text`. Throws FileError, or DiskFull, which leaves the file as it
/// was.
void appendLines(const std::string& path, std::string& text);

}  // namespace relascope::core
