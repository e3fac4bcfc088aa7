// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates of memory and time of a model and a run, from the options only.
#pragma once

#include <cstdint>
#include <string>

#include "types/run_options.h"

namespace relascope::core {

/// Parameters, each counted once (tied ones too), equal to those of the built model.
std::int64_t parameterCount(const ModelOptions& model);
/// Bytes of weights, gradients, Adam's moments and the activations of one training step.
std::uint64_t trainingBytes(const RunOptions& options);
/// Why a training does not fit into `free` bytes, with a suggestion; "" if it fits or `free` is 0.
std::string memoryProblem(const RunOptions& options, std::uint64_t free);
/// After a step with the batch of the options has failed: the largest batch, at most half of it, of
/// which a step takes nine tenths of `free` bytes by the estimate; any if `free` is 0. It is a
/// power of two, or three times one; 0 if there is none.
std::int64_t fittingBatch(const RunOptions& options, std::uint64_t free);
/// Optimizer steps of the whole run.
std::int64_t totalSteps(const RunOptions& options);
std::int64_t stepsPerEpoch(const RunOptions& options);
/// Number of batches that one optimizer step accumulates (train.tokens_per_step).
std::int64_t stepBatches(const RunOptions& options);
/// Tokens or images in one optimizer step.
double tokensPerStep(const RunOptions& options);
/// What train.keep_mib keeps along a training, as a sentence for a form: "none", or keptPlanText().
std::string keptWeightsText(const RunOptions& options);
/// Floating-point operations of one training step (forward and backward), for a first guess of the
/// time.
double trainingFlops(const RunOptions& options);

}  // namespace relascope::core
