// SPDX-License-Identifier: GPL-3.0-or-later
// The examples that one optimizer step reads, and the share of each process of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "types/run_options.h"

namespace relascope::core {

/// Tokens of one training example.
double exampleTokens(const RunOptions& options);
/// Number of batches that one optimizer step accumulates (train.tokens_per_step).
std::int64_t stepBatches(const RunOptions& options);
/// Tokens or images in one optimizer step.
double tokensPerStep(const RunOptions& options);

/// The processes that train one run together.
struct Ranks {
    std::int64_t count = 1;
    std::int64_t sharing = 1;  ///< how many share one memory: on the CPU all of a machine
    bool operator==(const Ranks&) const = default;
};
/// The processes of a run: one for each device that train.device names.
Ranks ranksOf(const RunOptions& options);

/// The examples of one forward pass of a process: the largest share of a batch, or all of it where
/// the step accumulates batches, which then go round.
std::int64_t rankBatch(const RunOptions& options, const Ranks& ranks);
/// Why a step cannot be divided among so many processes, with the nearest value that can.
std::vector<FieldProblem> rankProblems(const RunOptions& options, std::int64_t ranks);
/// Throws OptionError with the first of rankProblems().
void checkRanks(const RunOptions& options, std::int64_t ranks);

}  // namespace relascope::core
