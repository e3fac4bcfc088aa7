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

// Records of the event files that TensorBoard reads (formats.md section 15): TFRecord frames around
// protobuf messages, written by ourselves. A file is eventFileBegin() and any records after it.

/// CRC-32C (Castagnoli), which frames each record.
std::uint32_t crc32c(const std::string& bytes);

/// The first record of a file, its version. `wall` is a time in seconds since 1970, here and below.
std::string eventFileBegin(double wall);
/// The record of a run that begins anew from `step` on: TensorBoard forgets earlier records and
/// files of these steps.
std::string restartRecord(std::int64_t step, double wall);
/// A point of a learning curve: its values as scalars "loss/train", "accuracy/validation".
std::string pointRecord(const MetricPoint& point, double wall);
/// A note of a run, as text under the tag "notes", or "generated text" for a sample; empty for a
/// checkpoint. It is shown as it is, not as Markdown.
std::string noteRecord(const Note& note, double wall);
/// Name, seed, device and every option, as a table under the tag "options".
std::string optionsRecord(const RunInfo& info, double wall);
/// The results on the test splits as scalars "accuracy/pentos" at the last step; empty without any.
std::string resultsRecord(const RunInfo& info, double wall);

}  // namespace relascope::core
