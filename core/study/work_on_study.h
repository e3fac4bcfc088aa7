// SPDX-License-Identifier: GPL-3.0-or-later
// A worker of a study: trains the cells that no other process has claimed.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "study/study.h"
#include "train/execute_run.h"
#include "types/train_event.h"

namespace relascope::core {

struct StudyWork {
    int shard = 1, shards = 1;    ///< only every shards-th cell, from the shard-th on
    bool retry = false;           ///< repeat failed cells from the start
    std::string device = "auto";  ///< train.device of every run, a list for several devices
    /// Lets others steer the current run; stopping it stops this worker. Null: nobody steers.
    Control* control = nullptr;
    std::string door = {};  ///< the socket where they ask, as RunRequest::door
};

/// Progress of a worker and its current cell.
struct StudyProgress {
    StudyCell cell;
    std::size_t done = 0, total = 0;  ///< cells of this worker
};

using StudySink = std::function<void(const StudyProgress&, const TrainEvent&)>;

/// Works on cells that no other process has claimed until all of its cells are done or failed:
/// trains waiting cells and resumes interrupted ones. After a failed cell it continues with the
/// next one. Cells are taken smallest training size first. Throws FileError if the folder cannot be
/// written, Cancelled after the current cell has saved its state.
void workOnStudy(const std::string& path, const StudyWork& work, const DataOpener& open,
                 const StudySink& sink, std::stop_token stop);

}  // namespace relascope::core
