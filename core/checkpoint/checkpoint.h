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
#include <vector>

#include "checkpoint/source.h"
#include "model/outline.h"
#include "types/checkpoint_info.h"

namespace relascope::core {

/// Reads headers only, whatever the size of the weights: tensors, configuration, the model's
/// outline, and every difference between the two. Throws FileError if the file is not a checkpoint.
CheckpointInfo readCheckpointInfo(const std::string& path);

/// readCheckpointInfo(), and the run of the checkpoint. `path` may also be a run, which stands for
/// its newest checkpoint, or a file that belongs to a checkpoint folder, such as config.json.
OpenedCheckpoint openCheckpoint(const std::string& path);

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

// The model of a checkpoint, and the differences between the two. Does not include torch.

/// The model options from the configuration of the checkpoint, or from the run whose folder
/// contains it. Options that only the tensors show (a norm before the classifier, the decoder
/// blocks that published code builds) are taken from them. `from` is set to the source:
/// "config.json", "run.json". Throws FileError with the reason if there is no configuration or it
/// is not supported.
/// `unused` gets the keys of a public family's configuration that are not used.
ModelOptions checkpointModel(const CheckpointSource& source, std::string* from = nullptr,
                             std::vector<std::string>* unused = nullptr);

/// Every difference between the model and the tensors of the checkpoint: compareTensors(), of a
/// public family with the names of its files.
std::vector<CheckpointProblem> compareCheckpoint(const ModelOptions& model,
                                                 const CheckpointSource& source);

struct ImageProcessor;  // options/image_processor.h

/// How pictures become images of a model of images of a family: by preprocessor_config.json beside
/// its weights, or by its configuration; `found`: whether either says so. Throws FileError,
/// OptionError.
ImageProcessor imageProcessorBeside(const CheckpointSource& source, const ModelOptions& model,
                                    bool* found = nullptr);

/// Whether its tensors have the names of a public family, and not those of the model (as in runs).
bool hasFamilyNames(const ModelOptions& model, const CheckpointSource& source);

/// Every difference between a model and the tensors of a file, in one list: missing (a tied tensor
/// may be stored under any of its names), unexpected, of another shape, or of a type that cannot be
/// converted to weights.
std::vector<CheckpointProblem> compareTensors(const std::vector<TensorShape>& model,
                                              const std::vector<StoredTensor>& stored);

/// A shape as text: "[4, 3]".
std::string shapeText(const std::vector<std::int64_t>& shape);

}  // namespace relascope::core
