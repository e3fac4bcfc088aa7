// SPDX-License-Identifier: GPL-3.0-or-later
// The kept steps that an analysis can open. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "checkpoint/kept_weights.h"

namespace relascope::core {

/// What has the kept steps of a subject, as OpenedModel takes it: a run, or "served:NAME", whose
/// program keeps them (Run.weights of Python); empty where there are none.
std::string keeperOf(const AnalysisSubject& subject);

/// Its kept steps whose weights can be read at once, ascending; of those of a served model their
/// numbers and checksums. Throws Error where nobody serves it any more.
std::vector<KeptStep> stepsHere(const std::string& keeper);

}  // namespace relascope::core
