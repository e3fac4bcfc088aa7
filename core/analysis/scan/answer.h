// SPDX-License-Identifier: GPL-3.0-or-later
// A scan as an answer: its findings, the parts that were measured, and the atlas of the maps.
#pragma once

#include "analysis/scan/scan.h"
#include "answers/layout.h"
#include "types/answer.h"

namespace relascope::core {

Answer answerOf(const ModelScan& scan);
/// Reads a scan back. Throws Error for another answer.
ModelScan modelScanOf(const Answer& answer);

/// A sentence of a scan with the names of attributes in quotation marks.
std::string findingText(std::string text);
/// What a finding leads to: its best example, or its map.
Request requestOf(const ModelScan::Finding& finding);

}  // namespace relascope::core
