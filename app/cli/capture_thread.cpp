// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/capture_thread.h"

#include <iterator>
#include <utility>

#include "run/captures.h"
#include "types/error.h"

namespace relascope::cli {

CaptureThread::CaptureThread(const std::string& run)
    : m_thread([this, captures = run + "/captures"](const std::stop_token& stop) {
          this->run(captures, stop);
      }) {}

CaptureThread::~CaptureThread() = default;

void CaptureThread::add(std::int64_t step, double wall) {
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back({step, wall, {}});
    }
    m_changed.notify_all();
}

void CaptureThread::forgetAfter(std::int64_t step) {
    const std::lock_guard lock(m_mutex);
    const auto later = [step](const Capture& capture) { return capture.step > step; };
    std::erase_if(m_waiting, later);
    std::erase_if(m_drawn, later);
    if (m_working > step) m_working = -1;
}

CaptureThread::Drawn CaptureThread::takeLocked() {
    Drawn drawn;
    for (const auto& capture : std::exchange(m_drawn, {})) drawn.records += capture.records;
    drawn.remarks = std::exchange(m_remarks, {});
    return drawn;
}

CaptureThread::Drawn CaptureThread::take() {
    const std::lock_guard lock(m_mutex);
    return takeLocked();
}

CaptureThread::Drawn CaptureThread::finish() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_waiting.empty() && !m_busy; });
    return takeLocked();
}

void CaptureThread::run(const std::string& captures, const std::stop_token& stop) {
    core::CaptureRecords images(captures);
    std::unique_lock lock(m_mutex);
    while (m_changed.wait(lock, stop, [this] { return !m_waiting.empty(); }) &&
           !stop.stop_requested()) {
        Capture capture = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_working = capture.step;
        m_busy = true;
        lock.unlock();
        std::vector<std::string> remarks;
        try {
            capture.records =
                images.of(capture.step, capture.wall, [&stop] { return !stop.stop_requested(); });
            remarks = images.takeRemarks();
        } catch (const std::exception& error) {  // no memory, for example: training continues
            remarks = {"without the images of step " + std::to_string(capture.step) + ": " +
                       userMessage(error)};
        }
        lock.lock();
        if (m_working == capture.step) m_drawn.push_back(std::move(capture));
        m_remarks.insert(m_remarks.end(), std::make_move_iterator(remarks.begin()),
                         std::make_move_iterator(remarks.end()));
        m_working = -1;
        m_busy = false;
        m_changed.notify_all();
    }
}

}  // namespace relascope::cli
