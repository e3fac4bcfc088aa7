// SPDX-License-Identifier: GPL-3.0-or-later
// metrics.jsonl and events.jsonl of a run folder (formats.md section 9), one JSON object a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "types/metric.h"
#include "types/run_info.h"
#include "types/train_event.h"

namespace relascope::core {

/// How far a file of lines was read. A run that is resumed replaces its metrics.jsonl by another
/// file, with fewer lines.
struct LinesRead {
    std::uint64_t file = 0;  ///< the inode of the file; 0: none
    std::uint64_t position = 0;
    /// Whether the last reading began at the first line: lines read before have been replaced.
    bool whole = true;
    bool operator==(const LinesRead&) const = default;
};

/// All complete lines behind `*read`, which is then set to their end; all lines if it is null.
std::vector<MetricPoint> readMetrics(const std::string& path, LinesRead* read = nullptr);
std::vector<Note> readEvents(const std::string& path, LinesRead* read = nullptr);

/// The interventions that the run trains with after that step, from the last line about them in
/// events.jsonl up to there. Where a run was resumed from an earlier step, the last line written
/// counts.
EditList editsAfterStep(const std::string& path, std::int64_t step);

/// A metric point as a line of metrics.jsonl, without the line end, and back (nothing for a
/// damaged line).
std::string metricToLine(const MetricPoint& point);
std::optional<MetricPoint> metricFromLine(const std::string& line);
/// A note with the current time as a line of events.jsonl, without the line end.
std::string noteToLine(const Note& note);

/// Appends lines to a file with one write call, so that a killed process can leave at most one
/// incomplete line, and clears `text`. Throws FileError, or DiskFull, which leaves the file as it
/// was.
void appendLines(const std::string& path, std::string& text);

}  // namespace relascope::core
