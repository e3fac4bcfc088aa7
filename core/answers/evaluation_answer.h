// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluations, effects of edits and verifications as answers, and back.
#pragma once

#include "types/answer.h"
#include "types/checkpoint_info.h"
#include "types/edit_results.h"
#include "types/metric.h"

namespace relascope::core {

/// The number of examples, and the tables "metrics" (loss, accuracy and those of the task) and
/// "class_accuracy".
Answer answerOf(const Evaluation& evaluation);
/// Examples and changed answers; "changes" is a table of metrics with their intervals.
Answer answerOf(const EditEffect& effect);
/// Whether all tensors match; "tensors" is a table of their differences.
Answer answerOf(const VerifyReport& report);

// These throw Error for an answer of another kind.
Evaluation evaluationOf(const Answer& answer);
EditEffect editEffectOf(const Answer& answer);
VerifyReport verifyReportOf(const Answer& answer);

}  // namespace relascope::core
