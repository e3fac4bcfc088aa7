// SPDX-License-Identifier: GPL-3.0-or-later
// What the command `data` shows of data, as the page Data does: statistics, one example, a grid of
// examples.
#pragma once

#include <string>
#include <vector>

#include "app/cli/commands.h"
#include "types/run_options.h"

namespace relascope::cli {

/// Applies --set and --family. Throws OptionError.
void applySettings(RunOptions& options, const Question& asked);

/// Whether what is shown is asked for, and no file of data.
bool shows(const Question& asked);

/// Prints, or writes to --out, the statistics, the example or the grid; without any of them, saves
/// the examples of the split as .npz. Throws OptionError naming the option, and what opening data
/// throws.
void showData(const Asked& asked, const Call& call);

}  // namespace relascope::cli
