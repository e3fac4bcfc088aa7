// SPDX-License-Identifier: GPL-3.0-or-later
// The training loop, on the thread of the caller.
#pragma once

#include <functional>
#include <stop_token>

#include "data/dataset.h"
#include "interventions/edit_data.h"
#include "run/run_folder.h"
#include "train/control.h"
#include "types/run_options.h"
#include "types/train_event.h"

namespace relascope::core {

class RankGroup;

/// Receives events on the training thread; must not block for long.
using EventSink = std::function<void(TrainEvent)>;

/// How a run ended, and its results.
struct TrainResult {
    RunInfo info;
    MetricPoint lastValidation;
};

/// Trains the run in `folder` to its end, from the start or from its newest complete checkpoint.
/// Every event is also written to the run folder. `stop` ends it between two steps, after a
/// checkpoint (state Interrupted). The seed is folder.info().seed. Exceptions become one Failed
/// event and the state Failed; only errors before the first step (invalid options, unwritable
/// folder, edits that do not fit) are thrown. With `edits` the run trains with these from here on,
/// in place of the edits that it had. With several ranks all call this, with the same data: only
/// the folder on the disk, the control and the stop token of rank 0 count; the losses equal those
/// of one process up to rounding.
TrainResult train(RunFolder& folder, const DataSplits& data, Control& control,
                  const EventSink& sink, std::stop_token stop, const EditChoice& edits = {},
                  RankGroup* ranks = nullptr);

}  // namespace relascope::core
