// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the options of a new run from a preset and settings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "types/run_options.h"

namespace relascope::core {

/// Settings for a preset. Empty strings, 0 and -1 keep the value of the preset.
struct RunSettings {
    std::string preset, model;
    std::vector<std::string> set;  ///< KEY=VALUE, "model.d_model=64", in this order
    std::string data;              ///< data.path
    std::string device;
    std::int64_t epochs = 0, steps = 0;  ///< totals
    std::int64_t seed = -1;
    std::int64_t captureEvery = -1;
    /// Changes the options of the preset before `set` does (startFrom, checkpoint/start_from.h).
    std::function<void(RunOptions&)> begin = {};
};

/// The value of an option as a new run keeps it: the absolute path where the option names a file or
/// folder that exists, since the run is opened from other folders, too; otherwise `value`.
std::string fileSetting(const std::string& key, const std::string& value);

/// The checked options. Throws OptionError naming the key and its valid values.
RunOptions runOptions(const RunSettings& settings);

/// The words of `relascope-cli` that train a run with these options: "train", the preset, and --set
/// for each option that differs from it. Empty for a preset or model that is not known.
std::vector<std::string> trainWords(const RunOptions& options);

// Model options that follow from the data.

/// Sets the model options that follow from the data options: sizes of objects, vocabularies,
/// lengths, classes, image shapes. Options that the data do not determine (relational games, text,
/// folders of images) stay unchanged, and so does a model that has weights (train.init_from).
/// Throws OptionError for an unknown kind.
void fitToData(RunOptions& options);

}  // namespace relascope::core
