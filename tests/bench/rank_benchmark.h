// SPDX-License-Identifier: GPL-3.0-or-later
// `relascope-bench ranks`: the step of one process beside that of two ranks.
#pragma once

#include <cstdint>

#include "bench/benchmark.h"
#include "model/model.h"

namespace relascope::core {

/// A step of a model whose batch is made at random.
struct RankSteps {
    ModelOptions model;
    std::int64_t batch = 0;   ///< examples of all ranks together
    std::int64_t tokens = 0;  ///< tokens of a text
    int steps = 0;            ///< timed, of each kind
};

/// Starts a second rank on the CPU, with half of the threads each. Figures: "one_process_ms" and
/// "ranks_2_ms" (medians of steps); "moved_mb", what each rank sends in a step; "waited_ms" for the
/// other rank after the backward pass where the sums run beside it, "waited_apart_ms" where they
/// begin after it; "hidden", the part of the latter that the former saves.
void measureRanks(const RankSteps& work, BenchmarkResult& result);

}  // namespace relascope::core
