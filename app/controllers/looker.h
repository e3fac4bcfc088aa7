// SPDX-License-Identifier: GPL-3.0-or-later
// Requests of the window about models: a session, and a queue of jobs that use it, one after
// another, off the window's thread.
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
#include "types/answer.h"
#include "types/error.h"
#include "wire/requests.h"

namespace relascope::app {

/// A session (wire/session.h) that opens one model after another, and its prober.
struct Engine {
    wire::Session session;
    wire::Prober prober;
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

    explicit Looker(QObject* parent = nullptr, wire::Session session = wire::Session())
        : QObject(parent), m_models(std::make_shared<Engine>(std::move(session))) {}

    /// Runs `work(models, job, progress)` on the thread of the jobs, replacing the previous job of
    /// `task`: of several requests only the newest is answered. `done` gets its result; errors go
    /// to `refused`, or without it to LongTask::failed().
    template <class Work, class Done>
    void run(LongTask& task, const QString& text, Work work, Done done, Failure refused = {},
             std::shared_ptr<LongJob> with = nullptr) {
        task.run(
            m_queue, text,
            [models = m_models, work = std::move(work)](LongJob& job,
                                                        std::stop_token stop) mutable {
                if (job.stop.stop_requested()) throw Cancelled();  // cancelled before the job began
                return work(*models, job, job.callback(std::move(stop)));
            },
            std::move(done), std::move(refused), std::move(with));
    }
    /// Runs `work(models, progress)` in the background; `done` and `failed` are called only while
    /// `context` lives.
    template <class Work, class Done>
    void post(QObject* context, Work work, Done done, Failure failed = {}) {
        m_queue.post(
            context,
            [models = m_models, work = std::move(work)](std::stop_token stop) mutable {
                return work(*models, Progress([stop](double) { return !stop.stop_requested(); }));
            },
            std::move(done), std::move(failed));
    }

    /// Runs an analysis; `question` is called on the thread of the jobs to make the request.
    /// `partly`, which may be empty, gets the partial answers. Messages about options do not name
    /// the option. `with`: its progress; null: a new one.
    void ask(LongTask& task, const QString& text, std::function<wire::Asked()> question,
             std::function<void(Answer)> answered, std::function<void(const Answer&)> partly,
             Failure refused, std::shared_ptr<LongJob> with = nullptr);

    /// Asks once. `done` gets what `read` makes of the answer on the thread of the jobs, as an
    /// answer of another machine may be no such one. `ends`: the process ends afterwards, also when
    /// the task is cancelled. Errors go to LongTask::failed().
    template <class Read, class Done>
    void askOnce(LongTask& task, const QString& text, std::function<wire::Asked()> question,
                 Read read, Done done, bool ends) {
        run(
            task, text,
            [question = std::move(question), read, ends](Engine& models, LongJob&,
                                                         const Progress& progress) {
                const auto ended = qScopeGuard([&] {
                    if (ends) models.session.end();
                });
                return withoutOptionNames([&] {
                    const auto answer = wire::ask(models.session, question(), progress);
                    return models.session.understood([&] { return read(answer); });
                });
            },
            std::move(done));
    }

    /// Frees the weights; they are read again when they are needed.
    void drop();
    /// Ends the process of the session.
    void end();
    JobQueue& queue() { return m_queue; }

private:
    std::shared_ptr<Engine> m_models;  ///< accessed by jobs only
    JobQueue m_queue;
};

}  // namespace relascope::app
