// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of live options: while a run trains, and while it stood still. Private to core/train.
#pragma once

#include <string>

#include "train/train_job.h"

namespace relascope::core {

/// Changes one live option. The checkpoint of this step is kept with the options before it, so that
/// a branch can start there; a change that is not possible becomes a warning.
void changeOption(TrainJob& job, const std::string& key, const FieldValue& value);

/// After a checkpoint is loaded: options that a form changed since it was written are recorded as
/// changes, too.
void takeLiveOptions(TrainJob& job);

}  // namespace relascope::core
