// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>

#include "analysis/ablate/ablation.h"
#include "analysis/head_refit.h"
#include "analysis/pairs/claims.h"
#include "analysis/parts/part_rows.h"
#include "analysis/run_analysis.h"
#include "model/architecture.h"
#include "types/metric.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kTimedExamples = 32, kTimedTexts = 1, kTextBatch = 4;
constexpr std::chrono::milliseconds kTimed(700);
constexpr double kShareOfUntrained = 0.1;         // of the progress
constexpr std::int64_t kUntrainedExamples = 500;  // that untrained models answer

AblationOptions optionsOf(const AblationChoice& choice, const ModelOptions& model) {
    AblationOptions how;
    how.examples = choice.examples;
    how.metric = choice.metric != "auto" ? choice.metric
                 : model.info().numbers  ? "mean_error"
                                         : "accuracy";
    how.how.clear();
    for (const auto op : {EditOp::Zero, EditOp::Mean, EditOp::Resample})
        if (std::find(choice.how.begin(), choice.how.end(), editOpName(op)) != choice.how.end())
            how.how.push_back(op);
    how.what = choice.what;
    how.cumulative = choice.cumulative, how.pairs = choice.pairs, how.refit = choice.refit;
    if (model.input() == InputKind::Tokens) how.batchSize = kTextBatch;
    return how;
}

AblationTable runAblation(AnalysisSubject& subject, const AblationChoice& choice,
                          const Watch<AblationTable>& watch) {
    auto how = optionsOf(choice, subject.model->options());
    how.check();
    if (how.refit) (void)subject.model->headRefit();  // throws where there is none
    const double fresh = choice.untrained > 0 ? kShareOfUntrained : 0.0;
    const auto from = [&](double first, double last) -> ProgressCallback {
        if (!watch.progress) return {};
        return [&watch, first, last](double done) {
            return watch.progress(first + done * (last - first));
        };
    };
    if (choice.untrained > 0) {
        how.untrained = subject.model->untrainedScores(
            choice.untrained, subject.data,
            drawnExamples(subject.data->size(), std::min(how.examples, kUntrainedExamples), 0),
            how.batchSize, how.metric, watch.stop, from(0.0, fresh));
    }
    return ablate(*subject.model, subject.data, subject.interventions, how, watch.stop,
                  from(fresh, 1.0), watch.partial, subject.keptBy("ablate"));
}

/// Seconds for one example with one part out, from the first passes of a real ablation.
double secondsPerPass(AnalysisSubject& subject, AblationOptions how, double parts,
                      const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    const bool text = subject.model->options().input() == InputKind::Tokens;
    how.how = {EditOp::Zero};
    how.examples = std::min(text ? kTimedTexts : kTimedExamples, subject.data->size());
    how.batchSize = how.examples;
    const auto began = Clock::now();
    auto first = began, last = began;
    double from = 0.0, to = 0.0;
    try {
        ablate(*subject.model, subject.data, {{}, subject.interventions.data}, how, stop,
               [&](double fraction) {
                   last = Clock::now();
                   to = fraction;
                   if (first == began) first = last, from = fraction;
                   return last - began < kTimed;
               });
    } catch (const Cancelled&) {
        if (stop.stop_requested()) throw;
    }
    if (to <= from) first = began, from = 0.0;  // a single pass, timed with what precedes it
    return std::chrono::duration<double>(last - first).count() /
           std::max(1e-9, static_cast<double>(how.examples) * parts * (to - from));
}

AnalysisCost ablationCost(AnalysisSubject& subject, const std::stop_token& stop) {
    AnalysisCost cost;
    const auto input = subject.model->options().input();
    cost.noun = input == InputKind::Images   ? "images"
                : input == InputKind::Tokens ? "windows of text"
                                             : "examples";
    cost.examples = subject.data->size();
    for (const auto& row :
         partRows(subject.model->points(subject.model->randomInput(0)), partGroups()))
        ++cost.parts[row.group];
    auto timed = optionsOf({}, subject.model->options());
    timed.what.clear();
    int all = 0;
    for (const auto& [group, count] : cost.parts)
        if (group != "symbols") timed.what.push_back(group), all += count;
    if (all > 0) cost.seconds = secondsPerPass(subject, timed, all, stop);
    return cost;
}

}  // namespace

// After it was cancelled it continues where it ended (KeptWork).
const RegisterRunner kAblationRunner("ablate", [] {
    auto r = makeRunner(ablationFields(), runAblation, answerOf);
    r.cost = ablationCost;
    return r;
});

}  // namespace relascope::core
