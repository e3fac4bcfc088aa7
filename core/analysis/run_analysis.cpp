// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include "analysis/ablation_options.h"
#include "analysis/along_training.h"
#include "analysis/atlas.h"
#include "analysis/attribution.h"
#include "analysis/contrast.h"
#include "analysis/dictionary.h"
#include "analysis/duel.h"
#include "analysis/evaluation.h"
#include "analysis/head_measures.h"
#include "analysis/lens.h"
#include "analysis/origins.h"
#include "analysis/pair_accuracy.h"
#include "analysis/patching_options.h"
#include "analysis/phenomena.h"
#include "analysis/run_analysis.h"
#include "analysis/scan.h"
#include "analysis/shares.h"
#include "analysis/symbol_heads.h"
#include "types/error.h"

namespace relascope::core {

const AnalysisRunner& runnerOf(const Analysis& analysis) {
    static const std::vector<std::pair<const Analysis*, const AnalysisRunner*>> all = {
        {&ablationAnalysis(), &ablationRunner()},
        {&patchingAnalysis(), &patchingRunner()},
        {&lensAnalysis(), &lensRunner()},
        {&attributionAnalysis(), &attributionRunner()},
        {&originsAnalysis(), &originsRunner()},
        {&alongTrainingAnalysis(), &alongTrainingRunner()},
        {&headMeasuresAnalysis(), &headMeasuresRunner()},
        {&sharesAnalysis(), &sharesRunner()},
        {&pairsAnalysis(), &pairsRunner()},
        {&phenomenaAnalysis(), &phenomenaRunner()},
        {&symbolHeadsAnalysis(), &symbolHeadsRunner()},
        {&atlasAnalysis(), &atlasRunner()},
        {&contrastAnalysis(), &contrastRunner()},
        {&dictionaryAnalysis(), &dictionaryRunner()},
        {&scanAnalysis(), &scanRunner()},
        {&duelAnalysis(), &duelRunner()},
        {&evaluateAnalysis(), &evaluateRunner()},
        {&effectAnalysis(), &effectRunner()}};
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const auto& one) { return *one.first == analysis; });
    if (at == all.end()) throw Error("The analysis '" + analysis.name + "' cannot be run.");
    return *at->second;
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
