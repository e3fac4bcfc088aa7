// SPDX-License-Identifier: GPL-3.0-or-later
// Requests of the window about models: a session, and a queue of jobs that use it, one after
// another, off the window's thread. What is asked about the same weights goes to the same process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <QObject>
#include <QScopeGuard>
#include <QString>

#include "app/controllers/job_queue.h"
#include "model/served/served_link.h"
#include "types/answer.h"
#include "types/error.h"
#include "wire/requests.h"

namespace relascope::app {

/// What a job asks with: a session, which others may ask at the same time, and what of its answers
/// the jobs before have got.
struct Engine {
    wire::Session& session;
    wire::Prober& prober;
};

/// Returns the result of `action`; an OptionError is rethrown as an Error whose message does not
/// name the option.
template <class Action>
auto withoutOptionNames(Action&& action) {
    try {
        return action();
    } catch (const OptionError& error) {
        std::string sentence = error.message();
        if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
            sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
        throw Error(sentence);
    }
}

class Looker : public QObject {
    Q_OBJECT
public:
    using Progress = wire::Session::Progress;
    using Failure = JobQueue::Failure;

    explicit Looker(QObject* parent = nullptr, wire::Session session = wire::Session());
    /// Asks questions of that lane, for which others wait or which wait for others.
    explicit Looker(wire::Lane lane);
    ~Looker() override;

    wire::Lane lane() const { return m_lane; }
    /// The jobs from here on are about these weights: they go to the session that has them open, or
    /// else to the one of before. A session measures for one Looker at a time.
    void use(const Model& weights);

    /// Runs `work(models, job, progress)` on the thread of the jobs, replacing the previous job of
    /// `task`: of several requests only the newest is answered. `done` gets its result; errors go
    /// to `refused`, or without it to LongTask::failed().
    template <class Work, class Done>
    void run(LongTask& task, const QString& text, Work work, Done done, Failure refused = {},
             std::shared_ptr<LongJob> with = nullptr) {
        task.run(
            m_queue, text,
            [opened = m_opened, prober = m_prober, work = std::move(work)](
                LongJob& job, std::stop_token stop) mutable {
                if (job.stop.stop_requested()) throw Cancelled();  // cancelled before the job began
                Engine models{opened->session, *prober};
                const core::ServedWaitScope wait([&job](const std::string& text) {
                    job.setWaits(text);
                    return true;  // the progress says whether it is wanted
                });
                return work(models, job, job.callback(std::move(stop)));
            },
            std::move(done), std::move(refused), std::move(with));
    }
    /// Runs `work(models, progress)` in the background; `done` and `failed` are called only while
    /// `context` lives.
    template <class Work, class Done>
    void post(QObject* context, Work work, Done done, Failure failed = {}) {
        m_queue.post(
            context,
            [opened = m_opened, prober = m_prober,
             work = std::move(work)](std::stop_token stop) mutable {
                Engine models{opened->session, *prober};
                return work(models, Progress([stop](double) { return !stop.stop_requested(); }));
            },
            std::move(done), std::move(failed));
    }

    /// Runs an analysis. `partly`, which may be empty, gets the partial answers. Messages about
    /// options do not name the option. `with`: its progress; null: a new one.
    void ask(LongTask& task, const QString& text, wire::Asked question,
             std::function<void(Answer)> answered, std::function<void(const Answer&)> partly,
             Failure refused, std::shared_ptr<LongJob> with = nullptr);

    /// Asks once. `done` gets what `read` makes of the answer on the thread of the jobs, as an
    /// answer of another machine may be no such one. `ends`: the weights are let go afterwards,
    /// also when the task is cancelled. Errors go to LongTask::failed().
    template <class Read, class Done>
    void askOnce(LongTask& task, const QString& text, wire::Asked question, Read read, Done done,
                 bool ends) {
        use(question.subjects.front());
        question.lane = m_lane;
        run(
            task, text,
            [question = std::move(question), read](Engine& models, LongJob&,
                                                   const Progress& progress) {
                return withoutOptionNames([&] {
                    const auto answer = wire::ask(models.session, question, progress);
                    return models.session.understood([&] { return read(answer); });
                });
            },
            std::move(done));
        if (ends) end();
    }

    /// Frees the weights; they are read again when they are needed.
    void drop();
    /// Lets the session go, whose process ends with the last job that uses it; a later job begins
    /// another one.
    void end();
    JobQueue& queue() { return m_queue; }

private:
    /// A session of this window, and who uses it.
    struct Opened {
        wire::Session session;
        Model weights = {};                ///< last weights opened; without a path: none
        int looking = 0;                   ///< Lookers of Lane::Look that have it
        int others = 0;                    ///< and of other lanes
        const Looker* measures = nullptr;  ///< the Looker of Lane::Long that has it
    };
    void take(std::shared_ptr<Opened> opened);
    static std::vector<std::weak_ptr<Opened>>& all();

    const wire::Lane m_lane;
    std::shared_ptr<Opened> m_opened;        ///< its session is accessed by jobs only
    std::shared_ptr<wire::Prober> m_prober;  ///< accessed by jobs only
    JobQueue m_queue;
};

}  // namespace relascope::app
