// SPDX-License-Identifier: GPL-3.0-or-later
// Which model a checkpoint belongs to, and what stands between the two. No torch here.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/source.h"
#include "model/outline.h"
#include "types/checkpoint_info.h"

namespace relascope::core {

/// The model that the checkpoint's configuration describes, or the run that a run's checkpoint
/// folder lies in; what only the tensors tell (a norm before the classifier, the decoder blocks
/// that published code builds) is taken from them. `from` gets what was read: "config.json",
/// "run.json". Throws FileError with the reason, in words, when there is none or it cannot be
/// honoured.
ModelOptions checkpointModel(const CheckpointSource& source, std::string* from = nullptr);

/// Every difference between a model and the tensors of a file, in one list: missing (a tied tensor
/// may be stored under any of its names), unexpected, wrongly shaped, or of
/// numbers that cannot become weights.
std::vector<CheckpointProblem> compareTensors(const std::vector<TensorShape>& model,
                                              const std::vector<StoredTensor>& stored);

/// "[4, 3]".
std::string shapeText(const std::vector<std::int64_t>& shape);

}  // namespace relascope::core
