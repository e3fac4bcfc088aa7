// SPDX-License-Identifier: GPL-3.0-or-later
// Data as the page Data and the command `data` show them: usual options, names, and the words of
// what differs from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/data_example.h"
#include "types/data_options.h"
#include "types/dataset_info.h"

namespace relascope::core {

/// Examples of a split that are counted for its statistics, and that are searched for a label.
inline constexpr std::int64_t kCountedExamples = 2000, kSearchedExamples = 200000;

/// The usual options of such data, from their preset. Throws OptionError for an unknown kind.
DataOptions usualData(const std::string& kind, const std::string& task);
/// The data of an experiment, or the usual ones of a kind; with the given task, or its own where
/// `task` is empty. Throws OptionError naming the nearest experiments and kinds.
DataOptions namedData(const std::string& name, const std::string& task);

/// The fields that say what these data are; not those about their use in training.
std::vector<std::string> dataFields(const DataOptions& options);
/// The settings that make these data of the named ones of their kind: "data.task=same",
/// "data.seed=7"; without the path.
std::vector<std::string> dataSettings(const DataOptions& options);

/// The title of a task: "Linear equations" for math / algebra__linear_1d, "Between".
std::string titleOfTask(const std::string& kind, const std::string& task);

/// Adds where the examples come from as the last row: the seed of generated data, and with `epoch`
/// of 0 or more that of streamed examples; `name` for those of files and runs, whose `seed` is -1.
void addOrigin(DataStatistics& statistics, const DatasetInfo& info, const std::string& name,
               std::int64_t seed, std::int64_t epoch);

}  // namespace relascope::core
