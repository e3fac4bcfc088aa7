// SPDX-License-Identifier: GPL-3.0-or-later
// The model of a checkpoint, and the differences between the two. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/source.h"
#include "model/outline.h"
#include "types/checkpoint_info.h"

namespace relascope::core {

/// The model options from the configuration of the checkpoint, or from the run whose folder
/// contains it. Options that only the tensors show (a norm before the classifier, the decoder
/// blocks that published code builds) are taken from them. `from` is set to the source:
/// "config.json", "run.json". Throws FileError with the reason if there is no configuration or it
/// is not supported.
ModelOptions checkpointModel(const CheckpointSource& source, std::string* from = nullptr);

/// Every difference between a model and the tensors of a file, in one list: missing (a tied tensor
/// may be stored under any of its names), unexpected, of another shape, or of a type that cannot be
/// converted to weights.
std::vector<CheckpointProblem> compareTensors(const std::vector<TensorShape>& model,
                                              const std::vector<StoredTensor>& stored);

/// "[4, 3]".
std::string shapeText(const std::vector<std::int64_t>& shape);

}  // namespace relascope::core
