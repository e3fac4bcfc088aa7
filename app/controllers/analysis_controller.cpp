// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/analysis_controller.h"

#include <utility>

#include "question/question_fields.h"

namespace relascope::app {

AnalysisController::AnalysisController(Measurements* measurements, Looker* looker)
    : m_measurements(measurements ? measurements : new Measurements(this)),
      m_own(looker ? nullptr : std::make_unique<Looker>(wire::Lane::Quick)),
      m_looker(looker ? *looker : *m_own) {
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
    if (m_own) m_own->queue().clear();
}

void AnalysisController::setSubject(std::optional<Subject> subject) {
    std::vector<const core::Analysis*> anew;
    for (const auto* analysis : core::analyses()) {
        if (stays(*analysis, m_subject, subject)) continue;
        anew.push_back(analysis);
        letGo(*analysis);
        m_entries.at(analysis->name).begun.reset();
    }
    m_subject = std::move(subject);
    if (!m_subject && m_own) m_own->end();
    m_measurements->rest();
    if (!m_subject) return;
    for (const auto* analysis : anew)
        if (auto goesOn = m_measurements->active(*analysis, *m_subject))
            follow(m_entries.at(analysis->name), std::move(goesOn));
}

void AnalysisController::letGo(const core::Analysis& analysis) {
    auto& entry = m_entries.at(analysis.name);
    std::exchange(entry.measurement, nullptr) ? entry.task.leave() : entry.task.abandon();
}

std::optional<wire::Asked> AnalysisController::followed(const core::Analysis& analysis) const {
    const auto& measurement = m_entries.at(analysis.name).measurement;
    return measurement ? std::optional(measurement->asked) : std::nullopt;
}

void AnalysisController::see(const core::Analysis& analysis) {
    if (m_subject) m_measurements->see(analysis, *m_subject);
}

void AnalysisController::repeat(const Measurement& measurement) {
    if (measurement.answer()) Q_EMIT reported(measurement.analysis, *measurement.answer(), true);
}

Looker& AnalysisController::lookerFor(const core::Analysis& analysis) {
    return analysis.onDemand ? m_measurements->lookerFor(m_subject->model()) : m_looker;
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
        if (one.analysis.continues) entry.begun = one.asked;
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

void AnalysisController::findCost(const core::Analysis& analysis, const wire::Asked& question) {
    if (!m_subject) return;
    auto& looker = lookerFor(analysis);
    auto asked = question;
    asked.lane = looker.lane();
    looker.use(asked.subjects.front());
    struct Found {
        std::optional<Answer> kept;
        AnalysisCost cost;
    };
    looker.run(
        task(analysis), QString::fromStdString(analysis.progressText),
        [&analysis, asked](Engine& models, LongJob&, const Looker::Progress& progress) {
            return withoutOptionNames([&] {
                Found found;
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
                                  std::vector<wire::Asked> questions,
                                  std::function<void(const wire::Asked&)> found) {
    if (!m_subject || !analysis.kept || task(analysis).busy()) return;
    using Found = std::optional<std::pair<wire::Asked, Answer>>;
    auto& looker = lookerFor(analysis);
    looker.use(m_subject->model());
    for (auto& asked : questions) asked.lane = looker.lane();
    looker.run(
        task(analysis), QStringLiteral("Looking for what was measured before"),
        [questions = std::move(questions)](Engine& models, LongJob&,
                                           const Looker::Progress& progress) {
            for (const auto& asked : questions)
                if (auto kept = wire::keptAnswer(models.session, asked, progress))
                    return Found(std::in_place, asked, std::move(*kept));
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
    if (!m_subject || !m_subject->data || !m_subject->asked.sample) return;
    const auto* data = m_subject->data->find(split.toStdString());
    const auto label = m_subject->asked.sample->label;
    if (!data || label < 0 || data->labels().size() < 2) return;
    m_looker.use(m_subject->model());
    m_looker.post(
        this,
        [from = wire::Example{m_subject->data->data, data->name, data->info.size - 1},
         other = label == 0 ? 1 : 0, label,
         model = m_subject->model()](Engine& models, const Looker::Progress& progress) mutable {
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
        [this, split, path = m_subject->model().path,
         label](const std::optional<std::int64_t>& found) {
            if (found && m_subject && m_subject->model().path == path && m_subject->asked.sample &&
                m_subject->asked.sample->label == label)
                Q_EMIT exampleFound(split, *found);
        });
}

bool AnalysisController::continues(const core::Analysis& analysis, const wire::Asked& asked) const {
    const auto& begun = m_entries.at(analysis.name).begun;
    return begun && sameQuestion(analysis, *begun, asked);
}

void AnalysisController::run(const core::Analysis& analysis, const wire::Asked& asked) {
    if (!m_subject) return;
    auto& entry = m_entries.at(analysis.name);
    if (!continues(analysis, asked)) entry.begun.reset();
    if (analysis.onDemand) {
        letGo(analysis);
        return follow(entry, m_measurements->begin(analysis, asked, *m_subject));
    }
    m_looker.ask(
        task(analysis), QString::fromStdString(analysis.progressText), asked,
        [this, &analysis, &entry](const Answer& answer) {
            entry.begun.reset();
            Q_EMIT reported(analysis, answer, true);
        },
        [this, &analysis, &entry, asked](const Answer& part) {
            if (analysis.continues) entry.begun = asked;
            Q_EMIT reported(analysis, part, false);
        },
        [this, &analysis](const QString& sentence) { Q_EMIT refused(analysis, sentence); });
}

}  // namespace relascope::app
