// SPDX-License-Identifier: GPL-3.0-or-later
// The one way from options to a trained run, for the command line and the window.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "train/train.h"

namespace relascope::core {

/// Opens the data of a run with those of its pretraining stages (datasets: openRunData).
using DataOpener = std::function<DataSplits(const RunOptions&, std::stop_token)>;

struct RunRequest {
    std::string path;       ///< folder of the new run, or of the run to resume
    RunOptions options;     ///< of a resumed run all but those of the model, which it keeps
    std::int64_t seed = 0;  ///< of a new run
    bool resume = false;
};

/// Opens the data, makes or opens the run folder, and trains (train.h). What prevents the first
/// step is thrown: of a new run nothing is left on the disk then, so that the same request can be
/// made again; a resumed run is left as it was.
TrainResult executeRun(const RunRequest& request, const DataOpener& open, Control& control,
                       const EventSink& sink, std::stop_token stop);

}  // namespace relascope::core
