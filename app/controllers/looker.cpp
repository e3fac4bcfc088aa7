// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/looker.h"

#include <algorithm>

namespace relascope::app {

Looker::Looker(QObject* parent, wire::Session session)
    : QObject(parent), m_lane(wire::Lane::Look), m_prober(std::make_shared<wire::Prober>()) {
    take(std::make_shared<Opened>(Opened{std::move(session)}));
}

Looker::Looker(wire::Lane lane)
    : QObject(nullptr), m_lane(lane), m_prober(std::make_shared<wire::Prober>()) {
    take(std::make_shared<Opened>());
}

Looker::~Looker() {
    take(nullptr);
}

std::vector<std::weak_ptr<Looker::Opened>>& Looker::all() {
    static std::vector<std::weak_ptr<Opened>> opened;  // belongs to the window's thread
    std::erase_if(opened, [](const auto& one) { return one.expired(); });
    return opened;
}

void Looker::take(std::shared_ptr<Opened> opened) {
    const auto count = [this](Opened& one, int by) {
        (m_lane == wire::Lane::Look ? one.looking : one.others) += by;
        if (m_lane == wire::Lane::Long) one.measures = by > 0 ? this : nullptr;
    };
    if (m_opened) count(*m_opened, -1);
    m_opened = std::move(opened);
    if (!m_opened) return;
    count(*m_opened, 1);
    auto& known = all();
    if (std::none_of(known.begin(), known.end(),
                     [this](const auto& one) { return one.lock() == m_opened; }))
        known.push_back(m_opened);
}

void Looker::use(const Model& weights) {
    const auto has = [&](const Opened& one, bool anyStep) {
        return one.weights.path == weights.path &&
               (anyStep || one.weights.checkpoint == weights.checkpoint);
    };
    const bool looks = m_lane == wire::Lane::Look;
    if (has(*m_opened, !looks)) return;
    // Each lane of a session has a model of its own, so that later lanes may be at another step.
    for (const bool anyStep : {false, true}) {
        if (looks && anyStep) break;
        for (const auto& one : all()) {
            const auto other = one.lock();
            if (!other || !has(*other, anyStep)) continue;
            if (m_lane != wire::Lane::Long || !other->measures) return take(other);
        }
    }
    const bool alone =
        looks ? m_opened->looking == 1 : m_opened->looking == 0 && m_opened->others == 1;
    if (!alone) take(std::make_shared<Opened>());
    m_opened->weights = weights;
}

void Looker::ask(LongTask& task, const QString& text, wire::Asked question,
                 std::function<void(Answer)> answered, std::function<void(const Answer&)> partly,
                 Failure refused, std::shared_ptr<LongJob> with) {
    use(question.subjects.front());
    question.lane = m_lane;
    run(
        task, text,
        [question = std::move(question), partly = std::move(partly)](Engine& models, LongJob& job,
                                                                     const Progress& progress) {
            const auto partial = [&](const Answer& answer) {
                if (partly) job.report([partly, answer] { partly(answer); });
            };
            return withoutOptionNames(
                [&] { return wire::ask(models.session, question, progress, partial); });
        },
        std::move(answered), std::move(refused), std::move(with));
}

void Looker::drop() {
    post(
        this, [](Engine& models, const Progress&) { return wire::drop(models.session), 0; },
        [](int) {});
}

void Looker::end() {
    take(std::make_shared<Opened>());
}

}  // namespace relascope::app
