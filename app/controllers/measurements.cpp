// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/measurements.h"

#include <QThread>
#include <algorithm>
#include <utility>

#include "interventions/relation_file.h"

namespace relascope::app {

namespace {

constexpr double kFractionToJudge = 0.03;
constexpr std::size_t kIdleDesks = 1;  // each holds the weights of a model

/// How long a scan may take is no part of what it is about.
wire::Asked withoutSeconds(wire::Asked asked) {
    std::erase_if(asked.options, [](const Option& option) { return option.name == "seconds"; });
    return asked;
}

bool sameSubject(const core::Analysis& analysis, const Subject& a, const Subject& b) {
    return sameQuestion(analysis, questionOf(analysis, a), questionOf(analysis, b));
}

/// The fitted relations that a question names, as they are now: one that is fitted again lies under
/// the same name.
std::vector<std::string> relationsOf(const wire::Asked& asked) {
    std::vector<std::string> states;
    for (const auto& list : asked.edits) {
        const auto of = core::relationStates(list);
        states.insert(states.end(), of.begin(), of.end());
    }
    if (const auto name = asked.text("relation"); !name.empty())
        states.push_back(core::relationState(core::relationFileOf(name)));
    return states;
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

MeasurementPtr Measurements::begin(const core::Analysis& analysis, const wire::Asked& asked,
                                   const Subject& subject) {
    auto measurement = std::make_shared<Measurement>(++m_number, analysis, asked, subject);
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
        Desk& desk = deskFor(measurement->asked.subjects.front());
        desk.measures = measurement;
        measurement->m_state = Measurement::State::Running;
        measurement->m_began.start();
        measurement->m_relations = relationsOf(measurement->asked);
        desk.looker.ask(
            desk.task, QString::fromStdString(measurement->analysis.progressText),
            measurement->asked,
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

QString Measurements::dataOf(const std::string& model) const {
    const auto found = m_data.find(model);
    return found == m_data.end() ? QString() : found->second;
}

void Measurements::setDataOf(const std::string& model, const QString& file) {
    if (file == dataOf(model)) return;
    m_data[model] = file;
    Q_EMIT dataChosen(model);
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

void Measurements::see(const core::Analysis& analysis, const Subject& subject) {
    bool any = false;
    for (const auto& one : m_all)
        if (!one->active() && one->analysis == analysis &&
            sameSubject(analysis, one->subject, subject))
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

MeasurementPtr Measurements::active(const core::Analysis& analysis, const Subject& subject) const {
    const auto found = std::find_if(m_all.rbegin(), m_all.rend(), [&](const auto& one) {
        return one->active() && one->analysis == analysis &&
               sameSubject(analysis, one->subject, subject);
    });
    return found == m_all.rend() ? nullptr : *found;
}

MeasurementPtr Measurements::done(const core::Analysis& analysis, const wire::Asked& asked) const {
    const auto wanted = withoutSeconds(asked);
    const auto relations = relationsOf(asked);
    const auto found = std::find_if(m_all.rbegin(), m_all.rend(), [&](const auto& one) {
        return one->state() == Measurement::State::Done && one->analysis == analysis &&
               sameQuestion(analysis, withoutSeconds(one->asked), wanted) &&
               one->m_relations == relations;
    });
    return found == m_all.rend() ? nullptr : *found;
}

Measurements::Desk& Measurements::deskFor(const Model& weights) {
    Desk* found = nullptr;
    for (const auto& desk : m_desks) {
        if (desk->measures) continue;
        const bool hasWeights = desk->weights == weights;
        // A session that is ending a cancelled measurement of these weights can continue it.
        if (hasWeights || (!found && !desk->looker.queue().busy())) found = desk.get();
        if (hasWeights) break;
    }
    if (!found) found = m_desks.emplace_back(std::make_unique<Desk>()).get();
    found->weights = weights;
    return *found;
}

Looker& Measurements::lookerFor(const Model& weights) {
    return deskFor(weights).looker;
}

void Measurements::rest() {
    std::size_t idle = 0;
    for (const auto& desk : m_desks)
        if (!desk->measures && !desk->looker.queue().busy() && ++idle > kIdleDesks)
            desk->weights = {}, desk->looker.end();
}

}  // namespace relascope::app
