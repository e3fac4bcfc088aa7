// SPDX-License-Identifier: GPL-3.0-or-later
// A scan as an answer: its findings, the parts that were measured, and the atlas of the maps.
#pragma once

#include "analysis/scan.h"
#include "types/answer.h"

namespace relascope::core {

Answer answerOf(const ModelScan& scan);
/// Reads a scan back. Throws Error for another answer.
ModelScan modelScanOf(const Answer& answer);

}  // namespace relascope::core
