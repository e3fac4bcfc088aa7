// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates of memory and time of a model and a run, from the options only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "options/step_share.h"
#include "types/run_options.h"

namespace relascope::core {

/// The number of parameters, each counted once (tied ones too), equal to that of the built model.
std::int64_t parameterCount(const ModelOptions& model);
/// Bytes of weights, gradients, Adam's moments and the activations of one training step, in one of
/// the processes of the run: `ranks`, or without these as many as train.device names.
std::uint64_t trainingBytes(const RunOptions& options, std::optional<Ranks> ranks = {});
/// trainingBytes() in words: "training needs about 3.1 GiB: weights 0.5 GiB, gradients 0.5 GiB,
/// moments of the optimizer 1.0 GiB, activations 1.1 GiB; 12.0 GiB are free". `free` 0: unknown.
std::string trainingMemoryText(const RunOptions& options, std::uint64_t free,
                               std::optional<Ranks> ranks = {});
/// Why a training does not fit into `free` bytes, with a suggestion; "" if it fits or `free` is 0.
/// With processes that share their memory, `free` is for all of them.
std::string memoryProblem(const RunOptions& options, std::uint64_t free,
                          std::optional<Ranks> ranks = {});
/// After a step with the batch of the options has failed: the largest batch, at most half of it, of
/// which a step takes nine tenths of `free` bytes by the estimate; any if `free` is 0. It is a
/// power of two, or three times one, and can be divided among the processes; 0 if there is none.
/// `free` is what the process that failed could take.
std::int64_t fittingBatch(const RunOptions& options, std::uint64_t free,
                          std::optional<Ranks> ranks = {});
/// Optimizer steps of the whole run.
std::int64_t totalSteps(const RunOptions& options);
std::int64_t stepsPerEpoch(const RunOptions& options);
/// The weights that train.keep_mib keeps along a training, as a sentence for a form: "none", or
/// keptPlanText().
std::string keptWeightsText(const RunOptions& options);
/// Floating-point operations of one training step (forward and backward), for a first guess of the
/// time.
double trainingFlops(const RunOptions& options);

}  // namespace relascope::core
