// SPDX-License-Identifier: GPL-3.0-or-later
// Options for a first training on a user's own data: what follows from the files alone.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "types/dataset_info.h"
#include "types/run_options.h"

namespace relascope::app {

/// Data that were opened with all their examples (data sizes of 0).
struct OwnData {
    DataOptions data;
    /// One undivided split, or "train", "validation" and test splits.
    std::vector<std::pair<std::string, DatasetInfo>> splits;
    std::int64_t context = 0;             ///< tokens of a window of text; 0: no text
    std::int64_t objects = 0, width = 0;  ///< objects of a set, numbers of an object; 0: no sets
};

/// Options, and by key the reason for each value that follows from the data, as a sentence.
struct OwnRun {
    RunOptions options;
    std::map<std::string, std::string> reasons;
};

/// Whether these are files of the user's own, about which no preset knows anything: not a published
/// data set.
bool isOwnData(const DataOptions& data);
/// The smallest preset for data of that kind or, if there is none, for the same input and metric;
/// empty if there is none of these either.
std::string smallestPreset(const std::string& kind);
/// `base` with these data: sizes of the splits, name, image and patch size, classes, batch size and
/// a number of epochs that takes about two minutes at `flopsPerSecond` (0: of two cores). A model
/// that has weights (train.init_from) stays as it is. Throws OptionError for fewer than 4 examples.
OwnRun ownRun(RunOptions base, const OwnData& own, double flopsPerSecond = 0.0);

}  // namespace relascope::app
