// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/run_analysis.h"

#include "analysis/open_model.h"
#include "answers/evaluation_answer.h"

namespace relascope::core {
namespace {

std::int64_t batchFor(const OpenedModel& model) {
    return model.options().input() == InputKind::Tokens ? 4 : 250;
}

AnalysisRunner runnerFrom(Answer (*run)(AnalysisSubject&, const AnalysisWatch&)) {
    AnalysisRunner runner;
    runner.run = [run](AnalysisSubject& subject, const OptionValues& values,
                       const AnalysisWatch& watch) {
        checkOptions({}, values);
        return run(subject, watch);
    };
    return runner;
}

}  // namespace

const RegisterRunner kEvaluateRunner("evaluate", [] {
    return runnerFrom([](AnalysisSubject& subject, const AnalysisWatch& watch) {
        auto& model = *subject.model;
        return answerOf(model.evaluate(subject.data, batchFor(model), watch.stop, watch.progress));
    });
});

const RegisterRunner kEffectRunner("effect", [] {
    return runnerFrom([](AnalysisSubject& subject, const AnalysisWatch& watch) {
        auto& model = *subject.model;
        return answerOf(model.effect(subject.data, batchFor(model), subject.interventions,
                                     watch.stop, watch.progress));
    });
});

}  // namespace relascope::core
