// SPDX-License-Identifier: GPL-3.0-or-later
// What makes the maps of a scan's findings tell pairs apart: a contrast of each, as far as the time
// suffices. Does not include torch.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "analysis/contrast/contrast.h"
#include "analysis/scan/scan.h"

namespace relascope::core {

struct ContrastPlan {
    double seconds = 0.0;                   ///< that there are
    std::function<double()> secondsOfPass;  ///< seconds of a forward pass of one example
    std::string attributes;                 ///< ScanOptions::attributes
    std::stop_token stop = {};
    std::function<bool(double)> progress = {};  ///< gets the fraction done; false cancels
    std::function<void()> report = {};          ///< after each explanation
};

/// Adds ModelScan::explanations of the maps of its findings that have none, the best finding first,
/// and a remark if there was no time for one. Throws Cancelled.
void explainFindings(ModelScan& scan, AnalysisSubject& subject, const ContrastPlan& plan);

}  // namespace relascope::core
