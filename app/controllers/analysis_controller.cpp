// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include "app/controllers/analysis_controller.h"
#include "options/pair_data.h"

namespace relascope::app {

const wire::OpenedSplit& splitOf(const AnalysedSubject& subject, const std::string& name) {
    if (!subject.data)
        throw Error("There are no data to measure on: open a run, whose data are known.");
    const auto* split = subject.data->find(name);
    if (!split) throw Error("There is no split '" + name + "' in these data.");
    return *split;
}

EditList enabledEdits(const EditList& edits) {
    EditList enabled = edits;
    enabled.name.clear(), enabled.model.clear();
    std::erase_if(enabled.edits, [](const Edit& edit) { return !edit.enabled; });
    return enabled;
}

namespace {

wire::Weights weightsOf(const AnalysedSubject& subject) {
    wire::Weights weights;
    weights.path = subject.path;
    weights.checkpoint = subject.checkpoint;
    weights.device = subject.device;
    return weights;
}

std::optional<DataOptions> dataOf(const AnalysedSubject& subject) {
    return subject.data ? std::optional(subject.data->data.options) : std::nullopt;
}

wire::Interventions interventionsOf(const AnalysedSubject& subject) {
    return {enabledEdits(subject.edits), dataOf(subject), subject.exampleSplit, subject.example};
}

SubjectChange changeOf(const std::optional<AnalysedSubject>& a,
                       const std::optional<AnalysedSubject>& b) {
    if (!a || !b) return {};
    SubjectChange change;
    const bool samePlace =
        a->path == b->path && a->device == b->device && a->data == b->data && a->other == b->other;
    const bool sameSample = a->sample == b->sample && a->classNames == b->classNames;
    change.weights = !samePlace || a->checkpoint != b->checkpoint;
    change.sample = change.weights || !sameSample;
    const bool sameMap = a->map && b->map ? a->map->sameMap(*b->map) : !a->map && !b->map;
    const bool sameEdits = enabledEdits(a->edits) == enabledEdits(b->edits);
    change.edits = change.sample || !sameEdits;
    change.along = !samePlace || !sameSample || !sameMap || !sameEdits;
    return change;
}

/// The input B of a pair.
wire::Input secondOf(const AnalysedSubject& subject, const AnalysisRequest& request) {
    wire::Input input;
    input.sample = request.second;
    if (input.sample) return input;
    const auto size = splitOf(subject, request.split).info.size;
    if (request.example < 0 || request.example >= size)
        throw Error("There is no example " + std::to_string(request.example) + ": the split " +
                    request.split + " has " + std::to_string(size) + ".");
    input.example = {subject.data->data, request.split, request.example};
    return input;
}

wire::Question questionOf(const core::Analysis& analysis, const AnalysisRequest& request,
                          const AnalysedSubject& subject) {
    wire::Question all;
    all.analysis = analysis.name;
    all.options = core::optionsToJson(analysis, request.values);
    wire::Subject first{weightsOf(subject), std::nullopt, interventionsOf(subject)};
    if (subject.sample) first.input.emplace().sample = subject.sample;
    all.subjects = {first};
    if (analysis.input == core::AnalysisInput::Pair)
        all.subjects.push_back({first.weights, secondOf(subject, request), {}});
    if (analysis.twoModels && subject.other) {
        auto second = first;
        second.weights.path = subject.other->path;
        second.weights.checkpoint = subject.other->checkpoint;
        second.interventions.edits = enabledEdits(subject.other->edits);
        all.subjects.push_back(std::move(second));
    }
    all.classNames = subject.classNames;
    if (analysis.input == core::AnalysisInput::Sentences)
        all.data = {core::pairData(request.pairs), "validation"};
    else if (const auto options = dataOf(subject))
        all.data = {*options, request.split};
    all.cell = subject.map;
    all.known = request.known;
    return all;
}

}  // namespace

wire::Question effectQuestion(const AnalysedSubject& subject, const std::string& split) {
    splitOf(subject, split);
    return {.analysis = "effect",
            .subjects = {{weightsOf(subject), {}, interventionsOf(subject)}},
            .data = wire::DataSplit{subject.data->data.options, split}};
}

bool SubjectChange::affects(core::AnalysisInput input) const {
    switch (input) {
        case core::AnalysisInput::Data:
        case core::AnalysisInput::Sentences:
        case core::AnalysisInput::OwnPrompts:
            return weights;
        case core::AnalysisInput::Pair:
            return sample;
        case core::AnalysisInput::KeptSteps:
            return along;
        case core::AnalysisInput::Sample:
        case core::AnalysisInput::OwnText:
        case core::AnalysisInput::Reference:
            break;
    }
    return edits;
}

AnalysisController::AnalysisController(QObject* parent) : QObject(parent) {
    for (const auto* analysis : core::analyses()) m_entries[analysis->name];
}

AnalysisController::~AnalysisController() {
    for (auto& [name, entry] : m_entries) {
        entry.task.disconnect();
        entry.task.abandon();
    }
    m_looker.queue().clear();
}

SubjectChange AnalysisController::setSubject(std::optional<AnalysedSubject> subject) {
    const auto change = changeOf(m_subject, subject);
    for (const auto* analysis : core::analyses())
        if (change.affects(analysis->input)) {
            auto& entry = m_entries.at(analysis->name);
            entry.task.abandon();
            entry.begun.reset();
        }
    m_subject = std::move(subject);
    if (!m_subject) m_looker.end();
    return change;
}

void AnalysisController::findCost(const core::Analysis& analysis, const AnalysisRequest& request) {
    if (!m_subject) return;
    struct Found {
        std::optional<Answer> kept;
        AnalysisCost cost;
    };
    m_looker.run(
        task(analysis), QString::fromStdString(analysis.doing),
        [&analysis, request, subject = *m_subject](Engine& models, LongJob&,
                                                   const Looker::Progress& progress) {
            return withoutOptionNames([&] {
                Found found;
                auto asked = questionOf(analysis, request, subject);
                asked.keptOnly = true;
                if (analysis.kept) found.kept = wire::ask(models.session, asked, progress);
                if (!found.kept) found.cost = wire::cost(models.session, asked, progress);
                return found;
            });
        },
        [this, &analysis](const Found& found) {
            if (found.kept) return Q_EMIT reported(analysis, *found.kept, true);
            Q_EMIT costKnown(analysis, found.cost);
        },
        [this, &analysis](const QString& sentence) { Q_EMIT refused(analysis, sentence); });
}

void AnalysisController::findKept(const core::Analysis& analysis,
                                  std::vector<AnalysisRequest> requests,
                                  std::function<void(const AnalysisRequest&)> found) {
    if (!m_subject || !analysis.kept || task(analysis).busy()) return;
    using Found = std::optional<std::pair<AnalysisRequest, Answer>>;
    m_looker.run(
        task(analysis), QStringLiteral("Looking for what was measured before"),
        [&analysis, requests = std::move(requests), subject = *m_subject](
            Engine& models, LongJob&, const Looker::Progress& progress) {
            for (const auto& request : requests) {
                auto asked = questionOf(analysis, request, subject);
                asked.keptOnly = true;
                if (auto kept = wire::ask(models.session, asked, progress))
                    return Found(std::in_place, request, std::move(*kept));
            }
            return Found();
        },
        [this, &analysis, found = std::move(found)](const Found& kept) {
            if (!kept) return;
            found(kept->first);
            Q_EMIT reported(analysis, kept->second, true);
        },
        [](const QString&) {});  // measuring says why it cannot
}

void AnalysisController::findOtherAnswer(const QString& split) {
    if (!m_subject || !m_subject->data || !m_subject->sample) return;
    const auto* data = m_subject->data->find(split.toStdString());
    const auto label = m_subject->sample->label;
    if (!data || label < 0 || data->labels().size() < 2) return;
    m_looker.post(
        this,
        [from = wire::Example{m_subject->data->data, data->name, data->info.size - 1},
         other = label == 0 ? 1 : 0](Engine& models, const Looker::Progress& progress) {
            wire::LabelSearch found;
            do found = wire::findLabel(models.session, from, other, true, found.searched, progress);
            while (!found.index && !found.all);
            return found;
        },
        [this, split, path = m_subject->path, label](const wire::LabelSearch& found) {
            if (found.index && m_subject && m_subject->path == path && m_subject->sample &&
                m_subject->sample->label == label)
                Q_EMIT exampleFound(split, *found.index);
        });
}

bool AnalysisController::continues(const core::Analysis& analysis,
                                   const AnalysisRequest& request) const {
    const auto& begun = m_entries.at(analysis.name).begun;
    return begun && m_subject && begun->first.sameAs(request) &&
           begun->second == enabledEdits(m_subject->edits);
}

void AnalysisController::run(const core::Analysis& analysis, const AnalysisRequest& request) {
    if (!m_subject) return;
    auto& entry = m_entries.at(analysis.name);
    if (!continues(analysis, request)) entry.begun.reset();
    m_looker.ask(
        task(analysis), QString::fromStdString(analysis.doing),
        [&analysis, request, subject = *m_subject] {
            return questionOf(analysis, request, subject);
        },
        [this, &analysis, &entry](const Answer& answer) {
            entry.begun.reset();
            Q_EMIT reported(analysis, answer, true);
        },
        [this, &analysis, &entry, request,
         edits = enabledEdits(m_subject->edits)](const Answer& part) {
            if (analysis.continues) entry.begun = {request, edits};
            Q_EMIT reported(analysis, part, false);
        },
        [this, &analysis](const QString& sentence) { Q_EMIT refused(analysis, sentence); });
}

}  // namespace relascope::app
