// SPDX-License-Identifier: GPL-3.0-or-later
// What an open model measures, and gives analyses to measure.
#include <algorithm>
#include <optional>

#include "analysis/answer_names.h"
#include "analysis/edited_model.h"
#include "analysis/eval/edit_effect.h"
#include "analysis/head_refit.h"
#include "analysis/opened_parts.h"
#include "analysis/pairs/pair_reading.h"
#include "evaluate/evaluate.h"
#include "interventions/edited_run.h"
#include "model/architecture.h"
#include "probe/probe.h"
#include "train/out_of_memory.h"
#include "train/requirements.h"

namespace relascope::core {
namespace {

std::string shorterInput() {
    return " for this input; choose a shorter input, free some of its memory, or open the model on "
           "another device";
}

/// Edits in force on one input, above those of training, as long as it lives.
class EditedInput {
public:
    EditedInput(std::unique_ptr<ActiveEdits> session, const ProbeSample& sample, TakenMeans& means)
        : m_session(std::move(session)) {
        if (!m_session) return;
        m_session->prepareSample(sample);
        means = m_session->means();
        m_scope.emplace(&m_session->editor());
    }

private:
    std::unique_ptr<ActiveEdits> m_session;
    std::optional<InterventionScope> m_scope;
};

}  // namespace

Evaluation OpenedModel::evaluate(const DatasetPtr& data, std::int64_t batchSize,
                                 std::stop_token stop, const ProgressCallback& progress) {
    const auto& o = m_parts->options;
    if (!data) throw OptionError("data", "contains nothing to evaluate");
    requireReadable(o, *data);
    EvaluationOptions how;
    how.batchSize = batchSize;
    how.freely = -1;
    const auto trained = m_parts->makeTrainingEdits();
    how.edits = trained.get();
    return withinMemory(
        m_parts->device,
        [&] { return evaluateModel(*m_parts->model, o, data, how, stop, progress); },
        [&] {
            const std::string what = " with batches of " + std::to_string(batchSize);
            return batchSize > 1 ? what + "; lower the batch size, for example to " +
                                       std::to_string((batchSize + 1) / 2)
                                 : what + "; evaluate on another device";
        });
}

EditEffect OpenedModel::effect(const DatasetPtr& data, std::int64_t batchSize,
                               const Interventions& interventions, const std::stop_token& stop,
                               const ProgressCallback& progress, std::int64_t examples,
                               bool refit) {
    auto& p = *m_parts;
    if (data) requireReadable(p.options, *data);
    const auto anew = refit ? headRefit() : nullptr;
    ActiveEdits session(*p.model, p.options, interventions.edits,
                        withOwnExamples(p.completed(interventions.data), data));
    return withinMemory(
        p.device,
        [&] {
            const auto trained = p.makeTrainingEdits(interventions.data);
            auto effect = measureEdits(*p.model, p.options, session, data, batchSize, stop,
                                       progress, trained.get(), examples, anew.get());
            p.means = session.means();
            return effect;
        },
        [&] { return " with batches of " + std::to_string(batchSize) + "; lower the batch size"; });
}

void OpenedModel::withData(const DatasetPtr& data, const Interventions& interventions,
                           std::int64_t batchSize,
                           const std::function<void(ModelImpl&, const Interventions&)>& reader) {
    auto& p = *m_parts;
    if (data) requireReadable(p.options, *data);
    p.means.clear();
    const auto trained = p.makeTrainingEdits(interventions.data);
    const HookScope below(hooksOf(trained));
    withinMemory(
        p.device,
        [&] {
            reader(*p.model, {interventions.edits, p.completed(interventions.data)});
            return 0;
        },
        [&] { return " with batches of " + std::to_string(batchSize); });
}

void OpenedModel::withEdits(const Interventions& interventions,
                            const std::function<void(ModelImpl&, ActiveEdits*)>& reader) {
    auto& p = *m_parts;
    const auto trained = p.makeTrainingEdits(interventions.data);
    const HookScope below(hooksOf(trained));
    const auto session = p.makeActiveEdits(interventions);
    reader(*p.model, session.get());
    if (session) p.means = session->means();
}

std::unique_ptr<EditedModel> OpenedModel::edited(const Interventions& interventions) {
    auto& p = *m_parts;
    return std::make_unique<EditedModel>(*p.model, p.options,
                                         p.makeTrainingEdits(interventions.data),
                                         p.makeActiveEdits(interventions));
}

PairReadings OpenedModel::readPairs(
    const DatasetPtr& data, const Interventions& interventions, const PairReading& what,
    const std::stop_token& stop, const ProgressCallback& progress,
    const std::function<void(const PairReadings&, std::int64_t)>& partial) {
    PairReadings values;
    withData(data, interventions, what.batchSize, [&](ModelImpl& model, const Interventions& all) {
        values = core::readPairs(model, options(), data, all, what, stop, progress, partial);
    });
    return values;
}

PairReadings OpenedModel::readUntrainedPairs(std::uint64_t seed, const DatasetPtr& data,
                                             const PairReading& what, const std::stop_token& stop,
                                             const ProgressCallback& progress) const {
    const auto fresh = untrainedTwin(*this, seed, m_parts->device);
    return core::readPairs(*fresh, m_parts->options, data, {}, what, stop, progress);
}

std::vector<double> OpenedModel::untrainedScores(std::int64_t count, const DatasetPtr& data,
                                                 const std::vector<std::int64_t>& examples,
                                                 std::int64_t batchSize, const std::string& metric,
                                                 const std::stop_token& stop,
                                                 const ProgressCallback& progress) const {
    const auto& p = *m_parts;
    requireReadable(p.options, *data);
    const torch::NoGradGuard noGrad;
    std::vector<double> all;
    for (std::int64_t k = 0; k < count; ++k) {
        const auto model = untrainedTwin(
            *this, static_cast<std::uint64_t>((p.isRun ? kUntrainedOfRun : 0) + k), p.device);
        EditedModel fresh(*model, p.options);
        ExampleScores scores;
        const auto total = std::ssize(examples);
        for (std::int64_t first = 0; first < total; first += batchSize) {
            const std::vector<std::int64_t> indices(
                examples.begin() + first, examples.begin() + std::min(total, first + batchSize));
            const auto batch = makeBatch(*data, indices.data(), std::ssize(indices));
            requireLabels(batch, p.options.outputs(), p.options.ignoredTarget());
            scores.add(fresh.answers(batch, data, indices), batch, p.options.ignoredTarget());
            const double done =
                static_cast<double>(k) + static_cast<double>(first) / static_cast<double>(total);
            if (stop.stop_requested() || (progress && !progress(done / static_cast<double>(count))))
                throw Cancelled();
        }
        const auto& values = metricInfo(metric).id == Metric::Loss ? scores.loss : scores.accuracy;
        all.push_back(pairedChange(metric, values, values, scores.targets).base);
    }
    return all;
}

void OpenedModel::withInput(const ProbeSample& sample, const Interventions& interventions,
                            const std::function<void(ModelImpl&, const ModelInput&)>& reader) {
    auto& p = *m_parts;
    const auto trained = p.makeTrainingEdits(interventions.data);
    const HookScope below(hooksOf(trained));
    withinMemory(
        p.device,
        [&] {
            const auto input = inputOf(sample, p.options).to(torch::Device(p.device));
            const EditedInput edited(p.makeActiveEdits(interventions), sample, p.means);
            reader(*p.model, input);
            return 0;
        },
        shorterInput);
}

AnswerNames OpenedModel::answerNames(const ProbeSample& sample,
                                     const std::vector<std::string>& classNames) const {
    return {m_parts->options, m_parts->tokenizer, m_parts->named(classNames), sample};
}

}  // namespace relascope::core
