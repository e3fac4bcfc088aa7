// SPDX-License-Identifier: GPL-3.0-or-later
// checkpoints/step-N: weights, optimizer, generators and position; the manifest, written last,
// marks it as complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/family_form.h"
#include "model/model.h"
#include "run/run_folder.h"
#include "train/optimizer.h"
#include "types/edit.h"
#include "types/run_options.h"

namespace relascope::core {

/// The state of a run between two steps, without its tensors.
struct TrainState {
    std::int64_t step = 0;   ///< optimizer steps done
    std::int64_t epoch = 0;  ///< whole passes done
    std::int64_t batch = 0;  ///< batches done in the current epoch
    std::int64_t examples = 0;
    double seconds = 0.0;
    double baseRate = 0.0;  ///< learning rate before the schedule; live edits change it
    std::int64_t evaluateEvery = 0, captureEvery = 0;
    double best = 0.0;  ///< best value of the metric for early stopping or the best checkpoint
    std::int64_t bestStep = -1;  ///< -1: none yet
    std::int64_t badEvaluations = 0;
    double lossSum = 0.0,
           accuracySum = 0.0;  ///< sums since the last recorded point of training
    std::int64_t windowExamples = 0;
    double sinceLoss = 0.0;  ///< summed over the examples since the last evaluation
    std::int64_t sinceExamples = 0;
    std::string device;
    int threads = 0;
    std::int64_t batchSize = 0;  ///< size of the batches that `batch` counts; 0 before version 0.6
    int ranks = 1;
    EditList edits;  ///< interventions of the steps from here on
};

/// The text of state.json of a checkpoint.
std::string trainStateToJson(const TrainState& state);
/// Reads state.json. Throws FileError(`path`, ...).
TrainState trainStateFromJson(const std::string& text, const std::string& path);

/// Writes checkpoints/step-N with the tensors of Optimizer::state(). With `form` the weights have
/// the names and types of a public family's folder; weights that are rounded there are also stored
/// in float32, beside the optimizer's tensors. Throws DiskFull or FileError; the older checkpoints
/// stay as they are.
void saveCheckpoint(const std::string& checkpoints, ModelImpl& model,
                    std::vector<std::pair<std::string, torch::Tensor>> optimizer,
                    const TrainState& state, const FamilyForm* form = nullptr);

/// Puts a checkpoint back that was being replaced when the process was killed, where the file
/// system cannot replace it in one operation.
void finishReplacements(const std::string& checkpoints);

/// Loads a checkpoint's weights, as they were before they were rounded, and with `optimizer` also
/// its state and torch's generators.
TrainState loadCheckpoint(const std::string& checkpoint, ModelImpl& model,
                          const ModelOptions& options, Optimizer* optimizer);

/// The folder of the newest valid checkpoint, or "". Checkpoints that were skipped are listed in
/// `problems` ("step-120: model.safetensors does not match its checksum").
std::string newestCheckpoint(const std::string& checkpoints,
                             std::vector<std::string>* problems = nullptr);
/// The problem of a checkpoint; "" if every file exists with its size and checksum.
std::string checkpointProblem(const std::string& checkpoint);
/// Steps of all checkpoints that have a manifest, ascending.
std::vector<std::int64_t> checkpointSteps(const std::string& checkpoints);
/// The state of the run at a checkpoint. Throws FileError.
TrainState checkpointState(const std::string& checkpoint);
/// Keeps a checkpoint permanently, with the options of its step, so that a branch can start there.
void keepCheckpoint(const std::string& checkpoint, const RunOptions& options);
/// The options that keepCheckpoint wrote. Throws FileError.
RunOptions keptOptions(const std::string& checkpoint);
/// Removes all but the newest two, the best one and those that are kept.
void pruneCheckpoints(const std::string& checkpoints, std::int64_t bestStep);
/// The weights file that `which` ("last", "best", a step) names. Throws FileError.
std::string checkpointWeights(const std::string& run, const std::string& which,
                              std::int64_t* step = nullptr);

}  // namespace relascope::core
