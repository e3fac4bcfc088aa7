// SPDX-License-Identifier: GPL-3.0-or-later
// Short jobs on one thread: the work runs there, the answer arrives on the window's thread.
#pragma once

#include <QObject>
#include <QPointer>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>

#include "types/error.h"

namespace relascope::app {

/// Jobs run in order. `work` gets a stop token (triggered when the queue ends), copies what it
/// needs and touches no QObject; `done` and `failed` run on this object's thread, and only while
/// `context` lives.
class JobQueue : public QObject {
    Q_OBJECT
public:
    explicit JobQueue(QObject* parent = nullptr);
    ~JobQueue() override;

    using Failure = std::function<void(const QString& sentence)>;

    template <class Work, class Done>
    void post(QObject* context, Work work, Done done, Failure failed = {}) {
        using Result = std::invoke_result_t<Work, std::stop_token>;
        add([this, guard = QPointer<QObject>(context), work = std::move(work),
             done = std::move(done), failed = std::move(failed)](std::stop_token stop) mutable {
            try {
                auto result = std::make_shared<Result>(work(stop));
                answer([guard, result, done = std::move(done)]() mutable {
                    if (guard) done(std::move(*result));
                });
            } catch (const Cancelled&) {
                // Cancelled on request: there is no result to deliver.
            } catch (const std::exception& error) {
                answer([guard, failed = std::move(failed),
                        sentence = QString::fromStdString(userMessage(error))] {
                    if (guard && failed) failed(sentence);
                });
            }
        });
    }

    /// For a running job: calls on this object's thread, before its result arrives.
    void report(std::function<void()> call) { answer(std::move(call)); }

    /// Drops the jobs that have not started.
    void clear();
    /// Whether a job is running or queued.
    bool busy() const;

protected:
    void customEvent(QEvent* event) override;  ///< one answer

private:
    using Job = std::function<void(std::stop_token)>;
    void add(Job job);
    void answer(std::function<void()> call);
    void run(std::stop_token stop);

    mutable std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<Job> m_jobs;
    std::deque<std::function<void()>> m_answers;  ///< each with an event on its way
    bool m_running = false;
    std::jthread m_thread;  // last: joined before the rest goes
};

}  // namespace relascope::app
