// SPDX-License-Identifier: GPL-3.0-or-later
// Values along training as an answer: "steps", and for each of them its map, or two with edits.
#pragma once

#include "types/along.h"
#include "types/answer.h"

namespace relascope::core {

Answer answerOf(const AlongTraining& along);
/// Reads values along training back. Throws Error for another answer.
AlongTraining alongTrainingOf(const Answer& answer);

}  // namespace relascope::core
