// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/asking.h"

#include <utility>

namespace relascope::app {

Asking::Asking(const core::Analysis& analysis, Looker& quick, Measurements& measurements)
    : m_analysis(analysis), m_quick(quick), m_measurements(measurements) {
    // The strip cancels the job that it shows.
    connect(&m_task, &LongTask::ended, this, [this] {
        if (m_measurement && m_measurement->job->stop.stop_requested())
            m_measurements.cancel(*std::exchange(m_measurement, nullptr));
    });
}

Asking::~Asking() {
    m_task.disconnect();
    letGo();
}

void Asking::subjectChanged(const std::optional<Subject>& before,
                            const std::optional<Subject>& now) {
    if (stays(m_analysis, before, now)) return;
    letGo();
    m_begun.reset();
    if (!now) return;
    if (auto goesOn = m_measurements.active(m_analysis, *now)) follow(std::move(goesOn));
}

void Asking::letGo() {
    std::exchange(m_measurement, nullptr) ? m_task.leave() : m_task.abandon();
}

Looker& Asking::lookerFor(const Model& weights) {
    auto& looker = m_analysis.onDemand ? m_measurements.lookerFor(weights) : m_quick;
    looker.use(weights);
    return looker;
}

void Asking::partly(const wire::Asked& asked, const Answer& part) {
    if (m_analysis.continues) m_begun = asked;
    Q_EMIT reported(part, false);
}

void Asking::finish(const Answer& answer) {
    m_begun.reset();
    Q_EMIT reported(answer, true);
}

void Asking::follow(MeasurementPtr measurement) {
    m_measurement = std::move(measurement);
    auto* one = m_measurement.get();
    m_task.begin(one->state() == Measurement::State::Waiting
                     ? QStringLiteral("Waits for another measurement")
                     : QString::fromStdString(m_analysis.progressText),
                 one->job);
    connect(one, &Measurement::partial, this, [this, one](const Answer& part) {
        if (m_measurement.get() == one) partly(one->asked, part);
    });
    connect(one, &Measurement::ended, this, [this, one] {
        if (m_measurement.get() != one) return;
        const auto ended = std::exchange(m_measurement, nullptr);
        m_task.leave();
        if (ended->state() == Measurement::State::Failed) Q_EMIT refused(ended->problem());
        if (ended->state() == Measurement::State::Done) finish(*ended->answer());
    });
}

void Asking::findKept(std::vector<wire::Asked> questions, Found found, bool orCost) {
    if (!orCost && (!m_analysis.kept || m_task.busy())) return;
    struct Result {
        std::optional<std::pair<wire::Asked, Answer>> kept;
        AnalysisCost cost;
    };
    auto& looker = lookerFor(questions.front().subjects.front());
    for (auto& asked : questions) asked.lane = looker.lane();
    looker.run(
        m_task,
        orCost ? QString::fromStdString(m_analysis.progressText)
               : QStringLiteral("Looking for what was measured before"),
        [kept = m_analysis.kept, orCost, questions = std::move(questions)](
            Engine& models, LongJob&, const Looker::Progress& progress) {
            return withoutOptionNames([&] {
                if (kept)
                    for (const auto& asked : questions)
                        if (auto answer = wire::keptAnswer(models.session, asked, progress))
                            return Result{std::pair(asked, std::move(*answer)), {}};
                return Result{{},
                              orCost ? wire::cost(models.session, questions.front(), progress)
                                     : AnalysisCost()};
            });
        },
        [this, orCost, found = std::move(found)](const Result& result) {
            if (result.kept) {
                found(result.kept->first);
                Q_EMIT reported(result.kept->second, true);
            } else if (orCost) {
                Q_EMIT costKnown(result.cost);
            }
        },
        [this, orCost](const QString& sentence) {
            if (orCost) Q_EMIT refused(sentence);  // else measuring says why it cannot
        });
}

bool Asking::recall(const wire::Asked& asked, const Found& found) {
    const auto before = m_measurements.done(m_analysis, asked);
    if (!before) return false;
    found(before->asked);
    Q_EMIT reported(*before->answer(), true);
    return true;
}

bool Asking::continues(const wire::Asked& asked) const {
    return m_begun && sameQuestion(m_analysis, *m_begun, asked);
}

void Asking::run(const wire::Asked& asked, const Subject& subject) {
    if (!continues(asked)) m_begun.reset();
    if (m_analysis.onDemand) {
        letGo();
        return follow(m_measurements.begin(m_analysis, asked, subject));
    }
    m_quick.ask(
        m_task, QString::fromStdString(m_analysis.progressText), asked,
        [this](const Answer& answer) { finish(answer); },
        [this, asked](const Answer& part) { partly(asked, part); },
        [this](const QString& sentence) { Q_EMIT refused(sentence); });
}

}  // namespace relascope::app
