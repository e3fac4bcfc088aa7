// SPDX-License-Identifier: GPL-3.0-or-later
// Opening, examining and converting checkpoints of every published form. No torch here.
//
// Forms (formats.md sections 1 and 2): a .safetensors file; a folder with config.json and
// model.safetensors, or with model.safetensors.index.json and its shards; a PyTorch archive (.pt,
// .pth, .ckpt, .bin: a zip with a pickle, read by our own restricted unpickler), alone or in a
// folder. The form is taken from the content, not from the name.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "types/checkpoint_info.h"

namespace relascope::core {

/// Reads headers only, whatever the size of the weights: tensors, configuration, the model's
/// outline, and every difference between the two. Throws FileError if the file is not a checkpoint.
CheckpointInfo readCheckpointInfo(const std::string& path);

/// Reads one tensor (by its name in CheckpointInfo) and computes statistics of its values. Throws
/// FileError, Cancelled.
TensorStatistics tensorStatistics(const std::string& path, const std::string& tensor, int bins = 64,
                                  std::stop_token stop = {});

/// Writes `in` as `out`: a .safetensors file, a folder (config.json and model.safetensors, as the
/// published package loads it) or a .pt state dictionary that torch.load(weights_only=True) opens.
/// Writes everything or nothing. `progress` gets the fraction done and returns false to cancel.
/// Throws FileError, Cancelled.
void convertCheckpoint(const std::string& in, const std::string& out, std::stop_token stop = {},
                       const std::function<bool(double)>& progress = {});

}  // namespace relascope::core
