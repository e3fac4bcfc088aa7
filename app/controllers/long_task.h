// SPDX-License-Identifier: GPL-3.0-or-later
// One long job at a time, shown in a strip with progress and Cancel. Late results are dropped.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include "app/controllers/job_queue.h"

namespace relascope::app {

/// State shared by a long job and the window: its progress, and whether it was cancelled.
struct LongJob {
    std::atomic<double> fraction{0.0};
    std::stop_source stop;
    /// Calls on the window's thread as long as the job is wanted; for parts of its result.
    std::function<void(std::function<void()>)> report;

    /// A progress callback for the readers and writers of core and datasets. It returns false once
    /// the job is to stop.
    std::function<bool(double)> callback(std::stop_token queue) {
        return [this, queue](double done) {
            fraction = done;
            return !queue.stop_requested() && !stop.stop_requested();
        };
    }
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
             JobQueue::Failure refused = {}) {
        const auto job = begin(text);
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
    /// Begins a task that consists of many jobs; finish() ends it.
    std::shared_ptr<LongJob> begin(const QString& text) {
        abandon();
        m_job = std::make_shared<LongJob>();
        Q_EMIT began(text, m_job);
        return m_job;
    }
    void finish() {
        if (!std::exchange(m_job, nullptr)) return;
        Q_EMIT ended();
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
