// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/analysis_controller.h"

#include <utility>

#include "question/question_fields.h"

namespace relascope::app {

AnalysisController::AnalysisController(Measurements* measurements, QObject* parent)
    : QObject(parent), m_measurements(measurements ? measurements : new Measurements(this)) {
    for (const auto* analysis : core::analyses()) {
        auto& entry = m_entries[analysis->name];
        // The strip cancels the job that it shows.
        connect(&entry.task, &LongTask::ended, this, [this, &entry] {
            if (entry.measurement && entry.measurement->job->stop.stop_requested())
                m_measurements->cancel(*std::exchange(entry.measurement, nullptr));
        });
    }
}

AnalysisController::~AnalysisController() {
    for (auto& [name, entry] : m_entries) {
        entry.task.disconnect();
        entry.measurement ? entry.task.leave() : entry.task.abandon();
    }
    m_looker.queue().clear();
}

SubjectChange AnalysisController::setSubject(std::optional<AnalysedSubject> subject) {
    const auto change = changeOf(m_subject, subject);
    for (const auto* analysis : core::analyses())
        if (change.affects(analysis->input)) {
            letGo(*analysis);
            m_entries.at(analysis->name).begun.reset();
        }
    m_subject = std::move(subject);
    if (!m_subject) m_looker.end();
    m_measurements->rest();
    if (m_subject)
        for (const auto* analysis : core::analyses()) {
            auto& entry = m_entries.at(analysis->name);
            if (!change.affects(analysis->input) || entry.measurement) continue;
            if (auto goesOn = m_measurements->active(*analysis, *m_subject))
                follow(entry, std::move(goesOn));
        }
    return change;
}

void AnalysisController::letGo(const core::Analysis& analysis) {
    auto& entry = m_entries.at(analysis.name);
    std::exchange(entry.measurement, nullptr) ? entry.task.leave() : entry.task.abandon();
}

std::optional<AnalysisRequest> AnalysisController::followed(const core::Analysis& analysis) const {
    const auto& measurement = m_entries.at(analysis.name).measurement;
    return measurement ? std::optional(measurement->request) : std::nullopt;
}

MeasurementPtr AnalysisController::measured(const core::Analysis& analysis,
                                            const AnalysisRequest& request) const {
    return m_subject ? m_measurements->done(analysis, *m_subject, request) : nullptr;
}

void AnalysisController::see(const core::Analysis& analysis) {
    if (m_subject) m_measurements->see(analysis, *m_subject);
}

void AnalysisController::repeat(const Measurement& measurement) {
    if (measurement.answer()) Q_EMIT reported(measurement.analysis, *measurement.answer(), true);
}

Looker& AnalysisController::lookerFor(const core::Analysis& analysis) {
    return analysis.onDemand ? m_measurements->lookerFor(*m_subject) : m_looker;
}

void AnalysisController::follow(Entry& entry, MeasurementPtr measurement) {
    entry.measurement = measurement;
    const auto& one = *measurement;
    const QString doing = QString::fromStdString(one.analysis.progressText);
    entry.task.begin(one.state() == Measurement::State::Waiting
                         ? QStringLiteral("Waits for another measurement")
                         : doing,
                     one.job);
    const auto follows = [&entry, measurement = measurement.get()] {
        return entry.measurement.get() == measurement;
    };
    connect(&one, &Measurement::partial, this, [this, &entry, &one, follows](const Answer& part) {
        if (!follows()) return;
        if (one.analysis.continues) entry.begun = {one.request, enabledEdits(one.subject.edits)};
        Q_EMIT reported(one.analysis, part, false);
    });
    connect(&one, &Measurement::ended, this, [this, &entry, follows] {
        if (!follows()) return;
        const auto ended = std::exchange(entry.measurement, nullptr);
        entry.task.leave();
        if (ended->state() == Measurement::State::Failed)
            Q_EMIT refused(ended->analysis, ended->problem());
        if (ended->state() != Measurement::State::Done) return;
        entry.begun.reset();
        repeat(*ended);
    });
}

void AnalysisController::findCost(const core::Analysis& analysis, const AnalysisRequest& request) {
    if (!m_subject) return;
    struct Found {
        std::optional<Answer> kept;
        AnalysisCost cost;
    };
    lookerFor(analysis).run(
        task(analysis), QString::fromStdString(analysis.progressText),
        [&analysis, request, subject = *m_subject](Engine& models, LongJob&,
                                                   const Looker::Progress& progress) {
            return withoutOptionNames([&] {
                Found found;
                const auto asked = questionOf(analysis, request, subject);
                if (analysis.kept) found.kept = wire::keptAnswer(models.session, asked, progress);
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
    lookerFor(analysis).run(
        task(analysis), QStringLiteral("Looking for what was measured before"),
        [&analysis, requests = std::move(requests), subject = *m_subject](
            Engine& models, LongJob&, const Looker::Progress& progress) {
            for (const auto& request : requests) {
                const auto asked = questionOf(analysis, request, subject);
                if (auto kept = wire::keptAnswer(models.session, asked, progress))
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

// Near the border between two answers every share of the way from B to A is large: of so many
// examples with another answer, the one that the model is surest of becomes B.
constexpr int kOtherAnswers = 6;

void AnalysisController::findOtherAnswer(const QString& split) {
    if (!m_subject || !m_subject->data || !m_subject->sample) return;
    const auto* data = m_subject->data->find(split.toStdString());
    const auto label = m_subject->sample->label;
    if (!data || label < 0 || data->labels().size() < 2) return;
    m_looker.post(
        this,
        [from = wire::Example{m_subject->data->data, data->name, data->info.size - 1},
         other = label == 0 ? 1 : 0, label,
         model = modelOf(*m_subject)](Engine& models, const Looker::Progress& progress) mutable {
            std::optional<std::int64_t> best;
            float least = 1.0F;
            for (int n = 0; n < kOtherAnswers; ++n) {
                wire::LabelSearch found;
                do
                    found = wire::findLabel(models.session, from, other, true, found.searched,
                                            progress);
                while (!found.index && !found.all);
                if (!found.index || (best && *found.index <= from.index)) break;  // once around
                from.index = *found.index;
                wire::Asked asked(Question{
                    core::kInspectView, {model}, {{"sample", from.index}, {"split", from.split}}});
                asked.data = from.data;
                const auto probed = wire::probeOnce(models.session, asked, progress);
                const auto& answers = probed->probabilities;
                const auto at = static_cast<std::size_t>(label);
                if (best && (at >= answers.size() || answers[at] >= least)) continue;
                best = from.index;
                if (at < answers.size()) least = answers[at];
            }
            return best;
        },
        [this, split, path = m_subject->path, label](const std::optional<std::int64_t>& found) {
            if (found && m_subject && m_subject->path == path && m_subject->sample &&
                m_subject->sample->label == label)
                Q_EMIT exampleFound(split, *found);
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
    if (analysis.onDemand) {
        letGo(analysis);
        return follow(entry, m_measurements->begin(analysis, request, *m_subject));
    }
    m_looker.ask(
        task(analysis), QString::fromStdString(analysis.progressText),
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
