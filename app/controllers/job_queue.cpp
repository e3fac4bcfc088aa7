// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>
#include <QEvent>

#include "app/controllers/job_queue.h"

namespace relascope::app {

JobQueue::JobQueue(QObject* parent)
    : QObject(parent), m_thread([this](std::stop_token stop) { run(stop); }) {}

JobQueue::~JobQueue() {
    m_thread.request_stop();
    clear();
    m_thread.join();
}

void JobQueue::clear() {
    std::deque<Job> dropped;  // destroyed outside the lock: a job may hold a model
    std::lock_guard lock(m_mutex);
    dropped.swap(m_jobs);
}

bool JobQueue::busy() const {
    std::lock_guard lock(m_mutex);
    return m_running || !m_jobs.empty();
}

void JobQueue::add(Job job) {
    {
        std::lock_guard lock(m_mutex);
        m_jobs.push_back(std::move(job));
    }
    m_wake.notify_one();
}

// Handed over under the lock of this queue, and not in the event: what Qt's own queue of events
// synchronises, ThreadSanitizer does not see. Answers that wait are dropped with this object.
void JobQueue::answer(std::function<void()> call) {
    QEvent* event = nullptr;
    {
        std::lock_guard lock(m_mutex);
        m_answers.push_back(std::move(call));
        event = new QEvent(QEvent::User);  // it, too: the other thread frees it
    }
    QCoreApplication::postEvent(this, event);
}

void JobQueue::customEvent(QEvent*) {
    std::function<void()> call;
    {
        std::lock_guard lock(m_mutex);
        call = std::move(m_answers.front());
        m_answers.pop_front();
    }
    call();
}

void JobQueue::run(std::stop_token stop) {
    for (;;) {
        Job job;
        {
            std::unique_lock lock(m_mutex);
            m_running = false;
            if (!m_wake.wait(lock, stop, [this] { return !m_jobs.empty(); })) return;
            if (stop.stop_requested()) return;
            job = std::move(m_jobs.front());
            m_jobs.pop_front();
            m_running = true;
        }
        job(stop);
    }
}

}  // namespace relascope::app
