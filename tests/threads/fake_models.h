// SPDX-License-Identifier: GPL-3.0-or-later
// A played session without models, for the threads around it: reading and computing wait at gates,
// which a test opens.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "wire/session.h"

namespace relascope::testing_support {

class Gate {
public:
    void open() {
        set([this] { m_open = true; });
    }
    void close() {
        set([this] { m_open = false; });
    }
    /// On a job's thread: waits until the gate is open. False once `wanted` returns false.
    bool pass(const std::function<bool()>& wanted) {
        std::unique_lock lock(m_mutex);
        ++m_waiting;
        bool goOn = true;
        while (!m_open && (goOn = !wanted || wanted()))
            m_changed.wait_for(lock, std::chrono::milliseconds(1));
        --m_waiting;
        return goOn;
    }
    int waiting() const {
        std::lock_guard lock(m_mutex);
        return m_waiting;
    }

private:
    template <class Change>
    void set(Change change) {
        std::lock_guard lock(m_mutex);
        change();
        m_changed.notify_all();
    }
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_open = true;
    int m_waiting = 0;
};

struct FakeModels {
    Gate loading, probing, effects, picture;
    std::atomic<int> alive = 0;  ///< models
    std::vector<std::jthread> sessions;
};
FakeModels& fakeModels();

/// For wire::Session: a thread in place of the process.
wire::SessionProcess playSession();

}  // namespace relascope::testing_support
