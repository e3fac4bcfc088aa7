// SPDX-License-Identifier: GPL-3.0-or-later
// Records of the event files that TensorBoard reads (formats.md section 15): TFRecord frames around
// protobuf messages, written by ourselves. A file is eventFileBegin() and any records after it.
#pragma once

#include <cstdint>
#include <string>

#include "run/map_sheets.h"
#include "types/metric.h"
#include "types/run_info.h"
#include "types/train_event.h"

namespace relascope::core {

/// CRC-32C (Castagnoli), which frames each record.
std::uint32_t crc32c(const std::string& bytes);

/// The first record of a file: its version. `wall` is a time in seconds since 1970, here and below.
std::string eventFileBegin(double wall);
/// From `step` on a run begins anew: TensorBoard forgets what earlier records and files say of it.
std::string restartRecord(std::int64_t step, double wall);
/// A point of a learning curve: its values as scalars "loss/train", "accuracy/validation".
std::string pointRecord(const MetricPoint& point, double wall);
/// What a run noted, as text under the tag "notes", or "generated text" for a sample; empty for a
/// checkpoint. It is shown as it is, not as Markdown.
std::string noteRecord(const Note& note, double wall);
/// A sentence of ours about what is in the file, under the tag "notes".
std::string remarkRecord(const std::string& sentence, std::int64_t step, double wall);
/// A sheet of maps as an image under its name, and the value at the upper end of its colours as the
/// scalar "map scale/NAME".
std::string sheetRecord(const MapSheet& sheet, std::int64_t step, double wall);
/// Name, seed, device and every option, as a table under the tag "options".
std::string optionsRecord(const RunInfo& info, double wall);
/// The results on the test splits as scalars "accuracy/pentos" at the last step; empty without any.
std::string resultsRecord(const RunInfo& info, double wall);

}  // namespace relascope::core
