// SPDX-License-Identifier: GPL-3.0-or-later
// Where a training thread leaves its events until the window's timer fetches them, put together so
// that the cost for the window does not depend on the number of steps per second.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "types/train_event.h"

namespace relascope::app {

/// The events of one run since the last fetch.
struct Delivery {
    std::string path;
    std::optional<RunInfo> info;      ///< the newest
    std::vector<MetricPoint> points;  ///< all, in order
    std::vector<Note> notes;
    std::vector<std::int64_t> captures;
    std::optional<Progress> progress;  ///< the newest
    std::optional<ProbeAnswer> probe;  ///< the newest
    std::optional<std::string> failed;
    bool ended = false;
};

class Mailbox {
public:
    struct Post {
        std::vector<Delivery> runs;
        std::optional<double> preparing;    ///< fraction of the data prepared
        std::optional<std::string> failed;  ///< of the job, outside of any run
        bool finished = false;
    };

    /// The following events belong to that run.
    void begin(std::string path) {
        std::lock_guard lock(m_mutex);
        m_path = std::move(path);
        m_post.runs.push_back({m_path});
    }
    void push(TrainEvent event) {
        std::lock_guard lock(m_mutex);
        std::visit([this](auto& e) { put(current(), std::move(e)); }, event);
    }
    void end() {
        std::lock_guard lock(m_mutex);
        current().ended = true;
    }
    void preparing(double fraction) {
        std::lock_guard lock(m_mutex);
        m_post.preparing = fraction;
    }
    void fail(std::string sentence) {
        std::lock_guard lock(m_mutex);
        m_post.failed = std::move(sentence);
    }
    void finish() {
        std::lock_guard lock(m_mutex);
        m_post.finished = true;
    }
    Post take() {
        std::lock_guard lock(m_mutex);
        return std::exchange(m_post, {});
    }

private:
    Delivery& current() {
        if (m_post.runs.empty() || m_post.runs.back().path != m_path)
            m_post.runs.push_back({m_path});
        return m_post.runs.back();
    }
    static void put(Delivery& d, RunChanged&& e) { d.info = std::move(e.info); }
    static void put(Delivery& d, Progress&& e) { d.progress = e; }
    static void put(Delivery& d, MetricPoint&& e) { d.points.push_back(std::move(e)); }
    static void put(Delivery& d, Note&& e) { d.notes.push_back(std::move(e)); }
    static void put(Delivery& d, CaptureTaken&& e) { d.captures.push_back(e.step); }
    static void put(Delivery& d, ProbeAnswer&& e) { d.probe = std::move(e); }
    static void put(Delivery& d, Failed&& e) { d.failed = std::move(e.message); }

    std::mutex m_mutex;
    std::string m_path;
    Post m_post;
};

}  // namespace relascope::app
