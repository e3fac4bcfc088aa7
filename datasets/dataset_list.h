// SPDX-License-Identifier: GPL-3.0-or-later
// The list of the kinds of data and their tasks. Opens nothing.
#pragma once

#include <string>
#include <vector>

namespace relascope::datasets {

/// A task that `datasets` lists.
struct DatasetEntry {
    std::string kind;   ///< "relational-games"
    std::string name;   ///< data.task: "between"; empty where the kind has no tasks
    std::string title;  ///< "Between"
    std::string help;   ///< one sentence
    std::vector<std::string> families;
    std::vector<std::string> classNames;
};
/// Every kind and task, in the order of the form.
std::vector<DatasetEntry> listDatasets();

}  // namespace relascope::datasets
