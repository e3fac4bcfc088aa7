// SPDX-License-Identifier: GPL-3.0-or-later
// A run of several ranks from its start to its end: rank 0 starts the others of its machine, or a
// launcher has started all. Does not include torch.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ranks/rank_lost.h"
#include "ranks/rank_place.h"
#include "train/execute_run.h"

namespace relascope::core {

class RankGroup;  // ranks/rank_group.h

/// Joins the ranks that a launcher has started, with the device `wanted`: one name, a list with an
/// entry for each rank of the machine, or "auto": the CUDA device with the number of the rank
/// within its machine, else the CPU. Rank 0 gets to know why another cannot join. Throws
/// OptionError, RankLost.
std::shared_ptr<RankGroup> joinRanks(RankPlace place, const std::string& wanted);

/// The work of a rank other than 0: it takes part in the runs of rank 0 until endRanks() there. A
/// log is written into ranks/R.log of the run folder, where there is one on this machine. Throws
/// RankLost and the exceptions of training, after it has told rank 0 why.
void followRuns(RankGroup& ranks, const DataOpener& open);
/// On rank 0: tells the other ranks that there are no further runs. Does nothing if a rank is lost.
void endRanks(RankGroup& ranks);
/// Whether a rank is lost: nothing can be trained with these ranks any more.
bool isLost(const RankGroup& ranks);

/// Calls `run` with the ranks of the request: the launched ones, or as many as train.device names,
/// started here; null for a single process. A run that lost a rank is resumed `restarts` times.
TrainResult withRanks(const RunRequest& request, const EventSink& sink, const std::stop_token& stop,
                      const std::function<TrainResult(const RunRequest&, RankGroup*)>& run);
/// On rank 0, once the folder and the data are there: lets the other ranks open the data and train.
void beginRanks(RankGroup* ranks, RunFolder& folder, const RunOptions& options);

}  // namespace relascope::core
