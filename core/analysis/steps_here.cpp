// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/steps_here.h"

#include "model/served/served_link.h"
#include "model/served/served_options.h"

namespace relascope::core {

std::string keeperOf(const AnalysisSubject& subject) {
    return subject.run.empty() && isServedName(subject.path) ? subject.path : subject.run;
}

std::vector<KeptStep> stepsHere(const std::string& keeper) {
    if (!isServedName(keeper)) return KeptWeights(keeper).localSteps();
    std::vector<KeptStep> steps;
    for (const auto& [step, checksum] : servedLink(doorOf(keeper))->weights().steps) {
        steps.push_back({step});
        steps.back().checksum = checksum;
    }
    return steps;
}

}  // namespace relascope::core
