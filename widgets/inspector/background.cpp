// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/background.h"

#include <exception>
#include <memory>
#include <utility>

namespace relascope::widgets {

std::optional<BackgroundWork::Job> BackgroundWork::next() const {
    for (const Next& lane : m_lanes)
        if (lane)
            if (auto job = lane()) return job;
    return std::nullopt;
}

void BackgroundWork::wake() {
    if (m_running) return;
    if (immediate()) {
        m_running = true;  // what is done may ask for more
        while (const auto job = next()) {
            job->work();
            job->done();
        }
        m_running = false;
        return;
    }
    auto job = next();
    if (!job) return;
    m_running = true;
    m_executor(
        this,
        [work = std::move(job->work)] {
            try {
                work();
            } catch (const std::exception&) {
                // Out of memory: the picture stays empty, and the next work has its turn.
            }
        },
        [this, done = std::move(job->done)] {
            m_running = false;
            done();
            wake();
        });
}

}  // namespace relascope::widgets
