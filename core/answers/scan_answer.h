// SPDX-License-Identifier: GPL-3.0-or-later
// A scan as an answer: its findings, the parts that were measured, and the atlas of the maps.
#pragma once

#include "analysis/scan.h"
#include "types/answer.h"

namespace relascope::core {

Answer answerOf(const ModelScan& scan);
/// Throws Error for what is no such answer.
ModelScan modelScanOf(const Answer& answer);

}  // namespace relascope::core
