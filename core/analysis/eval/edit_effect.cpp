// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <algorithm>
#include <unordered_set>

#include "analysis/eval/edit_effect.h"
#include "evaluate/example_scores.h"
#include "evaluate/scoring.h"
#include "model/model.h"

namespace relascope::core {

EditEffect effectOf(const ExampleScores& base, const ExampleScores& edited, bool regression) {
    EditEffect effect;
    effect.examples = static_cast<std::int64_t>(base.loss.size());
    effect.answers = static_cast<std::int64_t>(base.answers.size());
    effect.changes.push_back(
        pairedChange("loss", base.loss, edited.loss, base.targets, base.content));
    effect.changes.push_back(pairedChange(regression ? "mean_error" : "accuracy", base.accuracy,
                                          edited.accuracy, base.targets, base.content));
    effect.different =
        std::ssize(std::unordered_set<std::uint64_t>(base.content.begin(), base.content.end()));
    std::int64_t changed = 0;
    for (std::size_t i = 0; i < base.answers.size(); ++i) {
        changed += base.answers[i] != edited.answers[i];
        effect.rightToWrong += base.right[i] && !edited.right[i];
        effect.wrongToRight += !base.right[i] && edited.right[i];
    }
    effect.changedAnswers = static_cast<double>(changed) /
                            static_cast<double>(std::max<std::int64_t>(1, effect.answers));
    return effect;
}

EditEffect measureEdits(ModelImpl& model, const ModelOptions& options, ActiveEdits& session,
                        const DatasetPtr& data, std::int64_t batchSize, const std::stop_token& stop,
                        const ProgressCallback& progress, ActiveEdits* below,
                        std::int64_t examples) {
    if (!data || data->size() == 0) throw OptionError("data", "contains nothing to evaluate");
    const auto device = model.device();
    const auto ignore = options.ignoredTarget();
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    ExampleScores base, edited;
    bool regression = false;
    std::int64_t done = 0;
    const auto order =
        examples > 0 ? drawnExamples(data->size(), examples, 0) : plainOrder(data->size());
    BatchLoader loader(data, order, batchSize);
    while (const auto batch = loader.next()) {
        if (stop.stop_requested()) throw Cancelled();
        requireLabels(*batch, options.outputs(), ignore);
        regression = batch->kind == TargetKind::Regression;
        const auto input = inputOf(*batch, device);
        const std::vector<std::int64_t> indices(order.begin() + done,
                                                order.begin() + done + batch->size());
        const HookScope scope(below ? &below->editor() : nullptr);
        if (below) below->forgetValues();  // values of the last batch do not fit other inputs
        session.prepareBatch(input, data, indices);
        if (below) below->prepareBatch(input, data, indices);
        base.add(answersOf(model, input), *batch, ignore);
        base.addContent(*batch);
        edited.add(forwardEdited(model, input, session.editor()), *batch, ignore);
        done += batch->size();
        if (progress && !progress(static_cast<double>(done) / static_cast<double>(order.size())))
            throw Cancelled();
    }
    return effectOf(base, edited, regression);
}

}  // namespace relascope::core
