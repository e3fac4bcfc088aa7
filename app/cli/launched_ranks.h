// SPDX-License-Identifier: GPL-3.0-or-later
// `train` as one of several ranks: started by --ranks or --devices, by mpirun, srun or torchrun.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/cli/commands.h"
#include "train/execute_run.h"

namespace relascope::cli {

/// Whether a launcher has started this process as a rank other than 0. Throws OptionError.
bool isOtherRank(const std::string& rendezvous);
/// Takes part in the runs of rank 0, as a process for which isOtherRank() is true. Returns the exit
/// code.
int followAsRank(const TrainArguments& arguments);

/// The value of train.device for --device, --devices and --ranks; empty if none of them is given.
/// Throws OptionError.
std::string deviceArgument(const TrainArguments& arguments);

/// Called by rank 0: the ranks that a launcher has started; null if this process is alone. Throws
/// OptionError, RankLost, Error.
std::shared_ptr<core::RankGroup> joinLaunchedRanks(const TrainArguments& arguments);

}  // namespace relascope::cli
