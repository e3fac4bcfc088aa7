// SPDX-License-Identifier: GPL-3.0-or-later
#include <map>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "types/error.h"

namespace relascope::core {

namespace {

std::map<std::string, AnalysisRunner (*)()>& makers() {
    static std::map<std::string, AnalysisRunner (*)()> all;
    return all;
}

}  // namespace

RegisterRunner::RegisterRunner(const char* analysis, AnalysisRunner (*make)()) {
    makers()[analysis] = make;
}

const AnalysisRunner& runnerOf(const Analysis& analysis) {
    static const auto all = [] {
        std::map<std::string, AnalysisRunner> made;
        for (const auto& [name, make] : makers()) made[name] = make();
        return made;
    }();
    const auto at = all.find(analysis.name);
    if (at == all.end()) throw Error("The analysis '" + analysis.name + "' cannot be run.");
    return at->second;
}

std::vector<std::string> featureNamesOf(const AnalysisSubject& subject) {
    if (subject.data) return subject.data->featureNames();
    // A model reads only the table that it was trained on.
    const auto& split = subject.interventions.data.split;
    if (!split || !subject.model || subject.model->options().input() != InputKind::Objects)
        return {};
    const auto training = split("train");
    return training ? training->featureNames() : std::vector<std::string>();
}

const ProbeSample& sampleOf(const AnalysisSubject& subject) {
    if (!subject.sample) throw Error("No input is given.");
    return *subject.sample;
}

}  // namespace relascope::core
