// SPDX-License-Identifier: GPL-3.0-or-later
// Short jobs on one thread: the work runs there, the answer arrives on the window's thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <QObject>
#include <QPointer>
#include <QString>

#include "types/error.h"
#include "widgets/inspector/map_statistics.h"

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

    /// Runs `call` on this object's thread, before the result of the running job arrives.
    void report(std::function<void()> call) { answer(std::move(call)); }

    /// Drops the jobs that have not started.
    void clear();
    /// Whether a job is running or queued.
    bool busy() const;

protected:
    void customEvent(QEvent* event) override;  ///< delivers one answer

private:
    using Job = std::function<void(std::stop_token)>;
    void add(Job job);
    void answer(std::function<void()> call);
    void run(std::stop_token stop);

    mutable std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<Job> m_jobs;
    std::deque<std::function<void()>> m_answers;  ///< one posted event for each
    bool m_running = false;
    std::jthread m_thread;  // last member: joined before the others are destroyed
};

// The thread on which an inspector computes large maps.

/// `queue` must outlive the work that is passed on.
inline widgets::Background backgroundOn(JobQueue& queue) {
    return [&queue](QObject* context, std::function<void()> work, std::function<void()> done) {
        queue.post(
            context,
            [work = std::move(work)](std::stop_token) {
                work();
                return true;
            },
            [done = std::move(done)](bool) { done(); });
    };
}

// One long job at a time, shown in a strip with progress and Cancel. Late results are dropped.

/// State shared by a long job and the window: its progress, and whether it was cancelled.
class LongJob {
public:
    std::atomic<double> fraction{0.0};
    std::stop_source stop;
    /// What it waits for, as "waiting for the cell, 12 s"; empty: nothing.
    QString waits() const {
        const std::lock_guard lock(m_mutex);
        return m_waits;
    }
    void setWaits(const std::string& text) {
        const std::lock_guard lock(m_mutex);
        m_waits = QString::fromStdString(text);
    }
    /// Runs a function on the window's thread as long as the job is wanted; for parts of its
    /// result.
    std::function<void(std::function<void()>)> report;

    /// A progress callback for the readers and writers of core and datasets. It returns false once
    /// the job is to stop.
    std::function<bool(double)> callback(std::stop_token queue) {
        return [this, queue](double done) {
            fraction = done;
            return !queue.stop_requested() && !stop.stop_requested();
        };
    }

private:
    mutable std::mutex m_mutex;
    QString m_waits;
};

class LongTask : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    /// Stops the job at its next progress report, so that closing the window does not wait for a
    /// file.
    ~LongTask() override {
        if (m_job) m_job->stop.request_stop();
    }

    /// Runs `work(job, stop)` in a queue, replacing the previous job; `done` gets its result.
    /// Without `refused`, errors are reported by failed().
    template <class Work, class Done>
    void run(JobQueue& queue, const QString& text, Work work, Done done,
             JobQueue::Failure refused = {}, std::shared_ptr<LongJob> with = nullptr) {
        const auto job = begin(text, std::move(with));
        job->report = [&queue, guard = QPointer<LongTask>(this),
                       request = m_request](std::function<void()> call) {
            queue.report([guard, request, call = std::move(call)] {
                if (guard && guard->m_request == request) call();
            });
        };
        queue.post(
            this,
            [work = std::move(work), job](std::stop_token stop) mutable {
                return work(*job, stop);
            },
            [this, done = std::move(done), request = m_request](auto result) mutable {
                if (request != m_request) return;
                finish();
                done(std::move(result));
            },
            [this, refused = std::move(refused), request = m_request](const QString& sentence) {
                if (request != m_request) return;
                finish();
                refused ? refused(sentence) : failed(sentence);
            });
    }
    /// Begins a task that consists of many jobs, or shows one that runs elsewhere; finish() ends
    /// it.
    std::shared_ptr<LongJob> begin(const QString& text, std::shared_ptr<LongJob> job = nullptr) {
        abandon();
        m_job = job ? std::move(job) : std::make_shared<LongJob>();
        Q_EMIT began(text, m_job);
        return m_job;
    }
    void finish() {
        if (!std::exchange(m_job, nullptr)) return;
        Q_EMIT ended();
    }
    /// Stops following the job, which continues.
    void leave() {
        ++m_request;
        finish();
    }
    bool busy() const { return m_job != nullptr; }
    const std::shared_ptr<LongJob>& job() const { return m_job; }

public Q_SLOTS:
    /// Drops the job and its result.
    void abandon() {
        ++m_request;
        if (m_job) m_job->stop.request_stop();
        finish();
    }

Q_SIGNALS:
    void began(const QString& text, std::shared_ptr<relascope::app::LongJob> job);
    void ended();
    void failed(const QString& sentence);

private:
    std::shared_ptr<LongJob> m_job;
    quint64 m_request = 0;
};

}  // namespace relascope::app
