// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the captures of a run for TensorBoard on a thread of its own, so that training does not
// wait for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace relascope::cli {

class CaptureThread {
public:
    /// `run` is the run's folder.
    explicit CaptureThread(const std::string& run);
    /// Drops what was not drawn; finish() first waits for it.
    ~CaptureThread();
    CaptureThread(const CaptureThread&) = delete;
    CaptureThread& operator=(const CaptureThread&) = delete;

    /// A capture was written; `wall` is its time in seconds since 1970.
    void add(std::int64_t step, double wall);
    /// The run repeats the steps after this one: their captures will come again.
    void forgetAfter(std::int64_t step);

    struct Drawn {
        std::string records;
        std::vector<std::string> remarks;  ///< what was left out, a sentence each
    };
    /// What was drawn since the last call.
    Drawn take();
    /// The same after all that were added.
    Drawn finish();

private:
    struct Capture {
        std::int64_t step;
        double wall;
        std::string records;
    };
    void run(const std::string& captures, const std::stop_token& stop);
    Drawn takeLocked();

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<Capture> m_waiting;
    std::vector<Capture> m_drawn;
    std::vector<std::string> m_remarks;
    std::int64_t m_working = -1;  ///< the step at work; -1: none, or it was forgotten
    bool m_busy = false;
    std::jthread m_thread;  // last: joined before the rest goes
};

}  // namespace relascope::cli
