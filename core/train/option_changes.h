// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of live options: while a run trains, and while it stood still. Private to core/train.
#pragma once

#include <string>

#include "train/train_job.h"

namespace relascope::core {

/// Changes one live option. The checkpoint of this step is kept with the options before it, so that
/// a branch can start there; what cannot be changed becomes a warning.
void changeOption(TrainJob& job, const std::string& key, const FieldValue& value);

/// After a checkpoint is loaded: what a form changed since it was written becomes an edit, too.
void takeLiveOptions(TrainJob& job);

}  // namespace relascope::core
