// SPDX-License-Identifier: GPL-3.0-or-later
// Questions that are asked as analyses, and have commands and places in the window of their own:
// an Evaluation and an EditEffect on a split, a VerifyReport of the reference outputs beside a
// checkpoint, which opens the model itself.
#include "analysis/analysis.h"

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

const RegisterAnalysis kEvaluate([] {
    return questionNamed("evaluate", "Evaluation", "Evaluating", AnalysisInput::Data);
});

const RegisterAnalysis kEffect([] {
    return questionNamed("effect", "Effect of edits", "Evaluating with and without edits",
                         AnalysisInput::Data);
});

const RegisterAnalysis kVerify([] {
    return questionNamed("verify", "Verification", "Comparing with the reference outputs",
                         AnalysisInput::Reference);
});

}  // namespace relascope::core
