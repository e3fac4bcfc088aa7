// SPDX-License-Identifier: GPL-3.0-or-later
// What an opened model measures: effects of edits, ablation, patching, lens and attribution.
#include "edit/attribution.h"
#include "edit/lens.h"
#include "probe/probe.h"
#include "train/ablation.h"
#include "train/answer_names.h"
#include "train/edit_effect.h"
#include "train/open_model_parts.h"
#include "train/out_of_memory.h"
#include "train/patching.h"
#include "train/requirements.h"

namespace relascope::core {
namespace {

std::string shorterInput() {
    return " for this input; choose a shorter input, free some of its memory, or open the model on "
           "another device";
}

/// The edits in force on one input, above those of training: from its construction on.
class EditsOn {
public:
    EditsOn(std::unique_ptr<EditSession> session, const ProbeSample& sample, TakenMeans& means)
        : m_session(std::move(session)) {
        if (!m_session) return;
        m_session->prepareSample(sample);
        means = m_session->means();
        m_scope.emplace(&m_session->editor());
    }

private:
    std::unique_ptr<EditSession> m_session;
    std::optional<HookScopeOnTop> m_scope;
};

}  // namespace

EditEffect OpenedModel::effect(const DatasetPtr& data, std::int64_t batchSize,
                               const std::stop_token& stop, const ProgressCallback& progress) {
    auto& p = *m_parts;
    if (data) requireReadable(p.options, *data);
    EditSession session(*p.model, p.options, p.edits, p.editData);
    return withinMemory(
        p.device,
        [&] {
            const auto trained = p.trained();
            auto effect = measureEdits(*p.model, p.options, session, data, batchSize, stop,
                                       progress, trained.get());
            p.means = session.means();
            return effect;
        },
        [&] { return " with batches of " + std::to_string(batchSize) + "; lower the batch size"; });
}

AblationTable OpenedModel::ablate(const DatasetPtr& data, const EditData& editData,
                                  const AblationOptions& how, std::stop_token stop,
                                  const ProgressCallback& progress,
                                  const std::function<void(const AblationTable&)>& partial,
                                  AblationProgress* kept) {
    auto& p = *m_parts;
    if (data) requireReadable(p.options, *data);
    const auto trained = p.trained();
    const HookScope below(hooksOf(trained));
    return core::ablate(*p.model, p.options, data, {p.edits, editData}, how, std::move(stop),
                        progress, partial, kept);
}

PatchResult OpenedModel::patch(const ProbeSample& clean, const ProbeSample& corrupted,
                               const PatchOptions& how, const std::stop_token& stop,
                               const ProgressCallback& progress,
                               const std::function<void(const PatchResult&)>& partial) {
    auto& p = *m_parts;
    const auto trained = p.trained();
    const HookScope below(hooksOf(trained));
    const auto session = p.inForce();
    PatchedEdits edits;
    edits.session = session.get();
    edits.prepare = [&](bool first) {
        session->prepareSample(first ? clean : corrupted);
        p.means = session->means();
    };
    return core::patch(*p.model, p.options, onDevice(inputOf(clean, p.options), p.device),
                       onDevice(inputOf(corrupted, p.options), p.device), how, stop, progress,
                       partial, edits);
}

LensResult OpenedModel::lens(const ProbeSample& sample, const LensOptions& what,
                             const std::vector<std::string>& classNames) {
    auto& p = *m_parts;
    const auto trained = p.trained();
    const HookScope below(hooksOf(trained));
    auto result = withinMemory(
        p.device,
        [&] {
            const auto input = onDevice(inputOf(sample, p.options), p.device);
            const EditsOn edits(p.inForce(), sample, p.means);
            return logitLens(*p.model, p.options, input, what);
        },
        shorterInput);
    AnswerNames(p.options, p.tokenizer, classNames, sample).fill(result);
    const auto inputs = answeredInputs(p.options, sample, p.tokenizer);
    for (const auto position : result.positions)
        if (static_cast<std::size_t>(position) < inputs.size())
            result.inputs.push_back(inputs[static_cast<std::size_t>(position)]);
    return result;
}

Attribution OpenedModel::attribution(const ProbeSample& sample, const AttributionOptions& what,
                                     const std::vector<std::string>& classNames) {
    auto& p = *m_parts;
    const auto trained = p.trained();
    const HookScope below(hooksOf(trained));
    auto result = withinMemory(
        p.device,
        [&] {
            const auto input = onDevice(inputOf(sample, p.options), p.device);
            const EditsOn edits(p.inForce(), sample, p.means);
            return attributeLogit(*p.model, p.options, input, what);
        },
        shorterInput);
    const AnswerNames names(p.options, p.tokenizer, classNames, sample);
    names.fill(result.answer), names.fill(result.minus);
    const auto inputs = answeredInputs(p.options, sample, p.tokenizer);
    if (static_cast<std::size_t>(result.position) < inputs.size())
        result.input = inputs[static_cast<std::size_t>(result.position)];
    return result;
}

std::int64_t OpenedModel::answerId(const std::string& word, const std::string& option,
                                   const ProbeSample& sample,
                                   const std::vector<std::string>& classNames) const {
    return AnswerNames(m_parts->options, m_parts->tokenizer, classNames, sample).find(word, option);
}

}  // namespace relascope::core
