// SPDX-License-Identifier: GPL-3.0-or-later
// What evaluations, effects of edits and verifications are.
#include "analysis/evaluation.h"

namespace relascope::core {
namespace {

Analysis questionNamed(const char* name, const char* title, const char* doing,
                       AnalysisInput input) {
    Analysis a;
    a.name = name, a.title = title, a.progressText = doing;
    a.input = input;
    a.onDemand = true;
    makeForms(a);
    return a;
}

}  // namespace

const Analysis& evaluateAnalysis() {
    static const Analysis analysis =
        questionNamed("evaluate", "Evaluation", "Evaluating", AnalysisInput::Data);
    return analysis;
}

const Analysis& effectAnalysis() {
    static const Analysis analysis = questionNamed(
        "effect", "Effect of edits", "Evaluating with and without edits", AnalysisInput::Data);
    return analysis;
}

const Analysis& verifyAnalysis() {
    static const Analysis analysis = questionNamed(
        "verify", "Verification", "Comparing with the reference outputs", AnalysisInput::Reference);
    return analysis;
}

}  // namespace relascope::core
