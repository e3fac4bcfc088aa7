// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/measurements.h"

#include <QThread>
#include <algorithm>
#include <utility>

namespace relascope::app {

namespace {

constexpr double kFractionToJudge = 0.03;
constexpr std::size_t kIdleDesks = 1;  // each holds the weights of a model

/// How long a scan may take is no part of what it is about.
core::OptionValues withoutSeconds(core::OptionValues values) {
    values.erase("seconds");
    return values;
}

}  // namespace

std::optional<double> Measurement::secondsLeft() const {
    const double done = job->fraction;
    if (m_state != State::Running || done < kFractionToJudge) return std::nullopt;
    return static_cast<double>(m_began.elapsed()) / 1000.0 * (1.0 - done) / done;
}

Measurements::Desk::~Desk() {
    task.disconnect();
    task.abandon();
    looker.queue().clear();
}

Measurements::Measurements(QObject* parent)
    : QObject(parent), places(std::max(1, QThread::idealThreadCount() / 2)) {}

Measurements::~Measurements() = default;

MeasurementPtr Measurements::begin(const core::Analysis& analysis, const AnalysisRequest& request,
                                   const AnalysedSubject& subject) {
    auto measurement = std::make_shared<Measurement>(++m_number, analysis, request, subject);
    m_all.push_back(measurement);
    const auto ended = [](const MeasurementPtr& one) { return !one->active(); };
    while (std::count_if(m_all.begin(), m_all.end(), ended) >
           static_cast<std::ptrdiff_t>(kMostEnded))
        m_all.erase(std::find_if(m_all.begin(), m_all.end(), ended));
    beginNext();
    Q_EMIT changed();
    return measurement;
}

void Measurements::beginNext() {
    for (;;) {
        const auto busy = std::count_if(m_desks.begin(), m_desks.end(),
                                        [](const auto& desk) { return desk->measures; });
        const auto next = std::find_if(m_all.begin(), m_all.end(), [](const auto& one) {
            return one->state() == Measurement::State::Waiting;
        });
        if (busy >= places || next == m_all.end()) return;
        const auto measurement = *next;
        Desk& desk = deskFor(measurement->subject);
        desk.measures = measurement;
        measurement->m_state = Measurement::State::Running;
        measurement->m_began.start();
        desk.looker.ask(
            desk.task, QString::fromStdString(measurement->analysis.progressText),
            [&analysis = measurement->analysis, request = measurement->request,
             subject = measurement->subject] { return questionOf(analysis, request, subject); },
            [this, &desk](const Answer& answer) {
                desk.measures->m_answer = answer;
                end(desk, Measurement::State::Done);
            },
            [&desk](const Answer& part) {
                desk.measures->m_answer = part;
                Q_EMIT desk.measures->partial(part);
            },
            [this, &desk](const QString& sentence) {
                desk.measures->m_problem = sentence;
                end(desk, Measurement::State::Failed);
            },
            measurement->job);
    }
}

void Measurements::end(Desk& desk, Measurement::State state) {
    const auto measurement = std::exchange(desk.measures, nullptr);
    measurement->m_state = state;
    beginNext();
    Q_EMIT measurement->ended();
    if (state == Measurement::State::Done) Q_EMIT measured(*measurement);
    Q_EMIT changed();
}

void Measurements::cancel(Measurement& measurement) {
    if (!measurement.active()) return;
    measurement.job->stop.request_stop();
    const auto at = std::find_if(m_all.begin(), m_all.end(),
                                 [&](const auto& one) { return one.get() == &measurement; });
    const auto keeps = *at;  // until everyone has heard of it
    m_all.erase(at);
    const auto desk = std::find_if(m_desks.begin(), m_desks.end(), [&](const auto& one) {
        return one->measures.get() == &measurement;
    });
    if (desk != m_desks.end()) {
        (*desk)->task.abandon();
        return end(**desk, Measurement::State::Cancelled);
    }
    measurement.m_state = Measurement::State::Cancelled;
    Q_EMIT measurement.ended();
    Q_EMIT changed();
}

void Measurements::clear() {
    std::erase_if(m_all, [](const auto& one) { return !one->active(); });
    Q_EMIT changed();
}

void Measurements::see(const core::Analysis& analysis, const AnalysedSubject& subject) {
    bool any = false;
    for (const auto& one : m_all)
        if (one->state() == Measurement::State::Done && one->analysis == analysis &&
            sameFor(analysis.input, one->subject, subject))
            any = !std::exchange(one->m_seen, true) || any;
    if (any) Q_EMIT changed();
}

void Measurements::seeAll() {
    for (const auto& one : m_all) one->m_seen = one->m_seen || !one->active();
    Q_EMIT changed();
}

int Measurements::active() const {
    return static_cast<int>(
        std::count_if(m_all.begin(), m_all.end(), [](const auto& one) { return one->active(); }));
}

MeasurementPtr Measurements::active(const core::Analysis& analysis,
                                    const AnalysedSubject& subject) const {
    const auto found = std::find_if(m_all.rbegin(), m_all.rend(), [&](const auto& one) {
        return one->active() && one->analysis == analysis &&
               sameFor(analysis.input, one->subject, subject);
    });
    return found == m_all.rend() ? nullptr : *found;
}

MeasurementPtr Measurements::done(const core::Analysis& analysis, const AnalysedSubject& subject,
                                  const AnalysisRequest& request) const {
    const auto found = std::find_if(m_all.rbegin(), m_all.rend(), [&](const auto& one) {
        auto same = one->request;
        same.values = withoutSeconds(same.values);
        auto wanted = request;
        wanted.values = withoutSeconds(wanted.values);
        return one->state() == Measurement::State::Done && one->analysis == analysis &&
               same.sameAs(wanted) && one->request.second == request.second &&
               sameFor(analysis.input, one->subject, subject);
    });
    return found == m_all.rend() ? nullptr : *found;
}

Measurements::Desk& Measurements::deskFor(const AnalysedSubject& subject) {
    Desk* found = nullptr;
    for (const auto& desk : m_desks) {
        if (desk->measures) continue;
        const bool hasWeights =
            desk->path == subject.path && desk->checkpoint == subject.checkpoint;
        // A session that is ending a cancelled measurement of these weights can continue it.
        if (hasWeights || (!found && !desk->looker.queue().busy())) found = desk.get();
        if (hasWeights) break;
    }
    if (!found) found = m_desks.emplace_back(std::make_unique<Desk>()).get();
    found->path = subject.path, found->checkpoint = subject.checkpoint;
    return *found;
}

Looker& Measurements::lookerFor(const AnalysedSubject& subject) {
    return deskFor(subject).looker;
}

void Measurements::rest() {
    std::size_t idle = 0;
    for (const auto& desk : m_desks)
        if (!desk->measures && !desk->looker.queue().busy() && ++idle > kIdleDesks)
            desk->path.clear(), desk->looker.end();
}

}  // namespace relascope::app
