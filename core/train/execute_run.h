// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a training from its options, for the command line and the window.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "train/train.h"

namespace relascope::core {

/// Opens the data of a run and of its pretraining stages (datasets: openRunData).
using DataOpener = std::function<DataSplits(const RunOptions&, std::stop_token)>;

class RankGroup;

/// How the ranks of a run are started where train.device names several devices, and how long they
/// wait for each other.
struct RankSettings {
    int threads = 0;                    ///< for each rank; 0: the threads of this process, divided
    std::chrono::seconds timeout{600};  ///< longest wait for another rank
    int restarts = 0;                   ///< how often a run that lost a rank is resumed
    std::string program;                ///< started for the other ranks; empty: rankProgram()
    /// Ranks that a launcher has started (joinRanks), of which this is rank 0; train.device is not
    /// looked at then. Null: none.
    RankGroup* launched = nullptr;
};

struct RunRequest {
    std::string path;       ///< folder of the new run, or of the run to resume
    RunOptions options;     ///< for a resumed run: all but the model options, which it keeps
    std::int64_t seed = 0;  ///< seed of a new run
    bool resume = false;
    /// Interventions from the first step on, or from where a resumed run is; empty: none, or the
    /// interventions that the resumed run had.
    EditChoice edits = {};
    RankSettings ranks = {};
    /// The folder was made by startRun() (wire/start_run.h): it is claimed at once, and a refusal
    /// stays in it.
    bool started = false;
    std::string door = {};  ///< socket of this process's door, for .lock; empty: none
};

/// Opens the data, creates or opens the run folder, and trains (train.h). Errors before the first
/// step are thrown. A new run then leaves nothing on the disk, so that the request can be repeated;
/// a resumed run stays unchanged. If train.device names several devices, one rank is started for
/// each but the first, and all have ended when this returns.
TrainResult executeRun(const RunRequest& request, const DataOpener& open, Control& control,
                       const EventSink& sink, std::stop_token stop);

}  // namespace relascope::core
