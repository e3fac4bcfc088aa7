// SPDX-License-Identifier: GPL-3.0-or-later
// Questions that are asked as analyses, and have commands and places in the window of their own:
// "evaluate" and "effect" on a split, "verify" of the reference outputs beside a checkpoint.
#pragma once

#include "analysis/analysis.h"

namespace relascope::core {

const Analysis& evaluateAnalysis();  ///< an Evaluation
const Analysis& effectAnalysis();    ///< the EditEffect of the subject's interventions
const Analysis& verifyAnalysis();    ///< a VerifyReport; opens the model itself
const AnalysisRunner& evaluateRunner();
const AnalysisRunner& effectRunner();

}  // namespace relascope::core
