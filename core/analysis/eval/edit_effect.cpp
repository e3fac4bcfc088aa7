// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <algorithm>
#include <unordered_set>

#include "analysis/eval/edit_effect.h"
#include "analysis/head_refit.h"
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
                        const ProgressCallback& progress, ActiveEdits* below, std::int64_t examples,
                        const HeadRefit* refit) {
    if (!data || data->size() == 0) throw OptionError("data", "contains nothing to evaluate");
    const auto device = model.device();
    const auto ignore = options.ignoredTarget();
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    ExampleScores base, edited, anew;
    bool regression = false;
    const auto order =
        examples > 0 ? drawnExamples(data->size(), examples, 0) : plainOrder(data->size());
    const auto prepare = [&](const ModelInput& input, const DatasetPtr& of,
                             const std::vector<std::int64_t>& indices) {
        if (below) below->forgetValues();  // values of the last batch do not fit other inputs
        session.prepareBatch(input, of, indices);
        if (below) below->prepareBatch(input, of, indices);
    };
    const double stages = refit ? 2.0 : 1.0;
    double stage = 0.0;
    const auto eachBatch = [&](const auto& visit) {
        BatchLoader loader(data, order, batchSize);
        std::int64_t done = 0;
        while (const auto batch = loader.next()) {
            if (stop.stop_requested()) throw Cancelled();
            const std::vector<std::int64_t> indices(order.begin() + done,
                                                    order.begin() + done + batch->size());
            visit(*batch, inputOf(*batch, device), indices);
            done += batch->size();
            const double part = static_cast<double>(done) / static_cast<double>(order.size());
            if (progress && !progress((stage + part) / stages)) throw Cancelled();
        }
        stage += 1.0;
    };
    eachBatch([&](const Batch& batch, const ModelInput& input, const auto& indices) {
        requireLabels(batch, options.outputs(), ignore);
        regression = batch.kind == TargetKind::Regression;
        const HookScope scope(below ? &below->editor() : nullptr);
        prepare(input, data, indices);
        base.add(answersOf(model, input), batch, ignore);
        base.addContent(batch);
        edited.add(forwardEdited(model, input, session.editor()), batch, ignore);
    });
    auto effect = effectOf(base, edited, regression);
    if (!refit) return effect;
    const EditedPass pass = [&](const ModelInput& input, const DatasetPtr& of,
                                const std::vector<std::int64_t>& indices) {
        const HookScope scope(below ? &below->editor() : nullptr);
        prepare(input, of, indices);
        return forwardEdited(model, input, session.editor());
    };
    refit->behind(pass, stop, [&] {
        eachBatch([&](const Batch& batch, const ModelInput& input, const auto& indices) {
            anew.add(pass(input, data, indices), batch, ignore);
        });
    });
    effect.refit = effectOf(base, anew, regression).changes;
    return effect;
}

}  // namespace relascope::core
