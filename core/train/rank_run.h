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

/// What a rank other than 0 does: it takes part in the runs of rank 0 until that says it is the
/// end, and in its benchmarks through `bench`, which gets the request as JSON. What happens is
/// written into ranks/R.log of the run folder, where there is one on this machine. Throws RankLost
/// and what training throws, after it has told rank 0 why.
void followRuns(RankGroup& ranks, const DataOpener& open,
                const std::function<void(RankGroup&, const std::string&)>& bench = {});
/// Of rank 0: there are no further runs for the others. Does nothing if a rank is lost.
void endRanks(RankGroup& ranks);
/// Whether a rank is lost: nothing can be trained with these any more.
bool isLost(const RankGroup& ranks);

/// Calls `run` with the ranks of the request: those that were launched, or as many as train.device
/// names, started here; null for one. A run that lost a rank is resumed `restarts` times.
TrainResult withRanks(const RunRequest& request, const EventSink& sink, const std::stop_token& stop,
                      const std::function<TrainResult(const RunRequest&, RankGroup*)>& run);
/// Of rank 0, once the folder and the data are there: the others open the data and train.
void beginRanks(RankGroup* ranks, RunFolder& folder, const RunOptions& options);

}  // namespace relascope::core
