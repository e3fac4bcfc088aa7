// SPDX-License-Identifier: GPL-3.0-or-later
// The thread on which an inspector computes large maps.
#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "app/controllers/job_queue.h"
#include "widgets/inspector/background.h"

namespace relascope::app {

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

}  // namespace relascope::app
