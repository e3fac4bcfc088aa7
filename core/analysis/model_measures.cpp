// SPDX-License-Identifier: GPL-3.0-or-later
// What an open model measures: losses, effects of edits, ablation, patching, lens, attribution.
#include <algorithm>
#include <optional>

#include "analysis/ablate/ablation.h"
#include "analysis/answer_names.h"
#include "analysis/attribute/attribution.h"
#include "analysis/edited_model.h"
#include "analysis/eval/edit_effect.h"
#include "analysis/lens/lens.h"
#include "analysis/opened_parts.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/patch/patching.h"
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
                               const ProgressCallback& progress, std::int64_t examples) {
    auto& p = *m_parts;
    if (data) requireReadable(p.options, *data);
    ActiveEdits session(*p.model, p.options, interventions.edits,
                        withOwnExamples(p.completed(interventions.data), data));
    return withinMemory(
        p.device,
        [&] {
            const auto trained = p.makeTrainingEdits(interventions.data);
            auto effect = measureEdits(*p.model, p.options, session, data, batchSize, stop,
                                       progress, trained.get(), examples);
            p.means = session.means();
            return effect;
        },
        [&] { return " with batches of " + std::to_string(batchSize) + "; lower the batch size"; });
}

template <class Read>
auto OpenedModel::Parts::readData(const DatasetPtr& data, const Interventions& interventions,
                                  std::int64_t batchSize, Read&& reader) {
    if (data) requireReadable(options, *data);
    means.clear();
    const auto trained = makeTrainingEdits(interventions.data);
    const HookScope below(hooksOf(trained));
    return withinMemory(
        device,
        [&] {
            return reader(Interventions{interventions.edits, completed(interventions.data)});
        },
        [&] { return " with batches of " + std::to_string(batchSize); });
}

std::unique_ptr<EditedModel> OpenedModel::edited(const Interventions& interventions) {
    auto& p = *m_parts;
    return std::make_unique<EditedModel>(*p.model, p.options,
                                         p.makeTrainingEdits(interventions.data),
                                         p.makeActiveEdits(interventions));
}

AblationTable OpenedModel::ablate(const DatasetPtr& data, const Interventions& interventions,
                                  const AblationOptions& how, std::stop_token stop,
                                  const ProgressCallback& progress,
                                  const std::function<void(const AblationTable&)>& partial,
                                  AblationProgress* kept) {
    auto& p = *m_parts;
    return p.readData(data, interventions, how.batchSize, [&](const Interventions& all) {
        return core::ablate(*p.model, p.options, data, all, how, stop, progress, partial, kept);
    });
}

PairReadings OpenedModel::readPairs(
    const DatasetPtr& data, const Interventions& interventions, const PairReading& what,
    const std::stop_token& stop, const ProgressCallback& progress,
    const std::function<void(const PairReadings&, std::int64_t)>& partial) {
    auto& p = *m_parts;
    return p.readData(data, interventions, what.batchSize, [&](const Interventions& all) {
        return core::readPairs(*p.model, p.options, data, all, what, stop, progress, partial);
    });
}

PairReadings OpenedModel::readUntrainedPairs(std::uint64_t seed, const DatasetPtr& data,
                                             const PairReading& what, const std::stop_token& stop,
                                             const ProgressCallback& progress) const {
    const auto& p = *m_parts;
    return core::readUntrainedPairs(p.options, p.isRun ? p.run.train.init : std::string(), seed,
                                    p.device, data, what, stop, progress);
}

std::vector<double> OpenedModel::untrainedScores(std::int64_t count, const DatasetPtr& data,
                                                 const std::vector<std::int64_t>& examples,
                                                 std::int64_t batchSize, const std::string& metric,
                                                 const std::stop_token& stop,
                                                 const ProgressCallback& progress) const {
    const auto& p = *m_parts;
    requireReadable(p.options, *data);
    const torch::NoGradGuard noGrad;
    const torch::Device device(p.device);
    std::vector<double> all;
    for (std::int64_t k = 0; k < count; ++k) {
        const auto model =
            untrainedModel(p.options, p.isRun ? p.run.train.init : std::string(),
                           static_cast<std::uint64_t>((p.isRun ? kUntrainedOfRun : 0) + k));
        model->to(device);
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

EffectEstimates OpenedModel::estimateEffects(
    const DatasetPtr& data, const Interventions& interventions, const EstimateOptions& what,
    const std::stop_token& stop, const ProgressCallback& progress,
    const std::function<void(const EffectEstimates&)>& partial, std::any* kept) {
    auto& p = *m_parts;
    return p.readData(data, interventions, what.batchSize, [&](const Interventions& all) {
        return core::estimateEffects(*p.model, p.options, data, all, what, stop, progress, partial,
                                     kept);
    });
}

PatchResult OpenedModel::patch(const ProbeSample& clean, const ProbeSample& corrupted,
                               const PatchOptions& how, const std::vector<std::string>& classNames,
                               const Interventions& interventions, const std::stop_token& stop,
                               const ProgressCallback& progress,
                               const std::function<void(const PatchResult&)>& partial) {
    auto& p = *m_parts;
    const auto trained = p.makeTrainingEdits(interventions.data);
    const HookScope below(hooksOf(trained));
    const auto session = p.makeActiveEdits(interventions);
    PatchedEdits edits;
    edits.session = session.get();
    edits.prepare = [&](bool first) {
        session->prepareSample(first ? clean : corrupted);
        p.means = session->means();
    };
    std::vector<std::string> positions;
    if (p.options.input() == InputKind::Tokens) {
        positions = answeredInputs(p.options, clean, p.tokenizer);
        const auto others = answeredInputs(p.options, corrupted, p.tokenizer);
        for (std::size_t i = 0; i < std::min(positions.size(), others.size()); ++i)
            if (positions[i] != others[i]) positions[i] += "/" + others[i];
    }
    if (const auto* images = p.options.find<ImageInput>()) {
        const auto before = p.options.tokens() - images->patches();
        for (const auto* name : {"class token", "distilled token"})
            if (std::ssize(positions) < before) positions.emplace_back(name);
        for (std::int64_t row = 0; row < images->gridRows(); ++row)
            for (std::int64_t column = 0; column < images->gridColumns(); ++column)
                positions.push_back("patch (" + std::to_string(row) + ", " +
                                    std::to_string(column) + ")");
    }
    const AnswerNames names(p.options, p.tokenizer, p.named(classNames), clean);
    edits.answer = [&names](std::int64_t id) { return names.of(id); };
    const auto named = [&](PatchResult result) {
        result.positions = positions;
        result.places = p.options.input() == InputKind::Images;
        return result;
    };
    std::function<void(const PatchResult&)> report;
    if (partial) report = [&](const PatchResult& result) { partial(named(result)); };
    return named(core::patch(*p.model, p.options,
                             inputOf(clean, p.options).to(torch::Device(p.device)),
                             inputOf(corrupted, p.options).to(torch::Device(p.device)), how, stop,
                             progress, report, edits));
}

/// What `read` gives for a sample, with the interventions in force.
template <class Read>
auto OpenedModel::Parts::read(const ProbeSample& sample, const Interventions& interventions,
                              Read&& reader) {
    const auto trained = makeTrainingEdits(interventions.data);
    const HookScope below(hooksOf(trained));
    return withinMemory(
        device,
        [&] {
            const auto input = inputOf(sample, options).to(torch::Device(device));
            const EditedInput edited(makeActiveEdits(interventions), sample, means);
            return reader(input);
        },
        shorterInput);
}

LensResult OpenedModel::lens(const ProbeSample& sample, const LensOptions& what,
                             const std::vector<std::string>& classNames,
                             const Interventions& interventions) {
    auto& p = *m_parts;
    auto result = p.read(sample, interventions, [&](const ModelInput& input) {
        return logitLens(*p.model, p.options, input, what);
    });
    AnswerNames(p.options, p.tokenizer, p.named(classNames), sample).fill(result);
    const auto inputs = answeredInputs(p.options, sample, p.tokenizer);
    for (const auto position : result.positions)
        if (static_cast<std::size_t>(position) < inputs.size())
            result.inputs.push_back(inputs[static_cast<std::size_t>(position)]);
    return result;
}

Attribution OpenedModel::attribution(const ProbeSample& sample, const AttributionOptions& what,
                                     const std::vector<std::string>& classNames,
                                     const Interventions& interventions) {
    auto& p = *m_parts;
    auto result = p.read(sample, interventions, [&](const ModelInput& input) {
        return attributeLogit(*p.model, p.options, input, what);
    });
    const AnswerNames names(p.options, p.tokenizer, p.named(classNames), sample);
    names.fill(result.answer), names.fill(result.minus);
    const auto inputs = answeredInputs(p.options, sample, p.tokenizer);
    if (static_cast<std::size_t>(result.position) < inputs.size())
        result.input = inputs[static_cast<std::size_t>(result.position)];
    return result;
}

void OpenedModel::withInput(const ProbeSample& sample, const Interventions& interventions,
                            const std::function<void(ModelImpl&, const ModelInput&)>& reader) {
    auto& p = *m_parts;
    p.read(sample, interventions, [&](const ModelInput& input) {
        reader(*p.model, input);
        return 0;
    });
}

std::int64_t OpenedModel::answerId(const std::string& word, const std::string& option,
                                   const ProbeSample& sample,
                                   const std::vector<std::string>& classNames) const {
    return AnswerNames(m_parts->options, m_parts->tokenizer, m_parts->named(classNames), sample)
        .find(word, option);
}

}  // namespace relascope::core
