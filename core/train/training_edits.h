// SPDX-License-Identifier: GPL-3.0-or-later
// Interventions that a run trains with "from here on". They are part of its state: every step,
// evaluation, capture and sample from then on has them.
#pragma once

#include <memory>
#include <vector>

#include "interventions/active_edits.h"
#include "types/edit.h"

namespace relascope::core {

struct TrainJob;

/// The list as training takes it: the enabled edits, with numbers rounded as a checkpoint stores
/// them. Throws OptionError for the first edit that does not fit a model with these points or that
/// is not possible in training, FileError if the list is larger than a file of edits may be.
EditList checkedTrainingEdits(EditList list, const std::vector<PointInfo>& points,
                              const ModelOptions& options, std::int64_t batchSize);

/// The hook points of the job's model for its first example.
std::vector<PointInfo> trainingPoints(TrainJob& job);

/// A session of a checked list for passes of the job's model; null for an empty list.
std::unique_ptr<ActiveEdits> trainingSession(TrainJob& job, const EditList& list);
/// Puts a checked list in force, or none, without a trace on the disk.
void useTrainingEdits(TrainJob& job, const EditList& list);
/// Puts a list in force from the next step on, and writes it into a checkpoint of this step, which
/// is kept, run.json and events.jsonl. A list that does not fit becomes a warning; false if nothing
/// has changed.
bool takeTrainingEdits(TrainJob& job, EditList list);
/// Writes the checkpoint, run.json and events.jsonl for edits that are in force already.
void recordTrainingEdits(TrainJob& job);

}  // namespace relascope::core
