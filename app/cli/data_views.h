// SPDX-License-Identifier: GPL-3.0-or-later
// What the command `data` shows of data, as the page Data does: statistics, one example, a grid of
// examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/run_options.h"

namespace CLI {
class App;
}

namespace relascope::cli {

struct DataArguments {
    std::string place, out;
    std::vector<std::string> settings;
    std::int64_t count = 0, seed = -1;
    std::string family;
    std::string tokenizer, ruleTokens = "auto";
    std::int64_t examples = 10;
    // What is shown.
    std::string form, data, split, label;
    std::int64_t epoch = -1, sample = -1, first = 0;
    int columns = 0;
    bool statistics = false, grid = false;
    bool json = false, paper = false;

    bool shows() const { return statistics || grid || sample >= 0; }
};

/// Applies the words of --set. Throws OptionError.
void applySettings(RunOptions& options, const std::vector<std::string>& settings);

/// Declares the options of what is shown.
void dataViewOptions(CLI::App& command, DataArguments& arguments);

/// Prints, or writes to --out, the statistics, the example or the grid; without any of them, saves
/// the examples of the split as .npz. Throws OptionError naming the option, and what opening data
/// throws.
void showData(const DataArguments& arguments);

}  // namespace relascope::cli
