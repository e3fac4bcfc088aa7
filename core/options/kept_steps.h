// SPDX-License-Identifier: GPL-3.0-or-later
// Which steps of a run keep their weights, and in which form (formats.md section 11). The standard
// library alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace relascope::core {

/// How kept weights are stored, from the largest to the smallest.
enum class KeptForm {
    Float32,   ///< as they are
    BFloat16,  ///< rounded to nearest, ties to even
    Xor,       ///< bfloat16, as the difference to the kept step before, compressed
    External   ///< not in the run: a checkpoint that another program left (series.h)
};

/// The name of a form: "float32", "bfloat16", "xor", "checkpoint".
const char* keptFormName(KeptForm form);

struct KeptPlan {
    std::vector<std::int64_t> steps;  ///< ascending; empty: nothing is kept
    KeptForm form = KeptForm::Float32;
    std::uint64_t bytes = 0;  ///< estimate for all steps; if nothing is kept, the least needed

    bool keeps(std::int64_t step) const;
};

/// The steps to keep: 0, the whole numbers next to 2^(k / perDoubling), and the last step.
std::vector<std::int64_t> keptSteps(std::int64_t totalSteps, int perDoubling);

/// The finest plan within `budget` bytes: eight steps a doubling in float32, then in bfloat16, then
/// eight, four or two as differences, of which half the size of bfloat16 is expected.
KeptPlan planKeptWeights(std::int64_t parameters, std::int64_t totalSteps, std::uint64_t budget);

/// The plan as a sentence for a form: "48 steps in float32, 71 MiB", or "off: 1,035 MiB would be
/// needed".
std::string keptPlanText(const KeptPlan& plan);

/// The index of the step that is missed least: the one between the two nearest neighbours, by the
/// logarithm of step + 1, of those that may go. Never the first or the last; -1 if none may.
std::int64_t leastMissedStep(const std::vector<std::int64_t>& steps,
                             const std::function<bool(std::int64_t)>& mayGo);

}  // namespace relascope::core
