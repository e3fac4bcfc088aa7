// SPDX-License-Identifier: GPL-3.0-or-later
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "app/cli/cli.h"

namespace relascope::cli {

namespace {
const SteeredScope* steered = nullptr;
}

SteeredScope::SteeredScope(std::stop_token stopped, std::function<void(double)> told)
    : stop(std::move(stopped)), progress(std::move(told)) {
    steered = this;
}
SteeredScope::~SteeredScope() {
    steered = nullptr;
}
const SteeredScope* SteeredScope::current() {
    return steered;
}

std::stop_token stopOnSignals() {
    if (steered) return steered->stop;
    // Never destroyed: the thread below may meet a signal while the process ends.
    static auto& source = *new std::stop_source;
    static std::once_flag once;
    std::call_once(once, [] {
        // One thread waits for signals; there are no signal handlers.
        sigset_t stopping;
        sigemptyset(&stopping);
        sigaddset(&stopping, SIGINT);
        sigaddset(&stopping, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &stopping, nullptr);
        std::thread([stopping] {
            using Clock = std::chrono::steady_clock;
            std::optional<Clock::time_point> first;
            for (;;) {
                int signal = 0;
                if (sigwait(&stopping, &signal) != 0) continue;
                // A supervisor sends to the process and to its group at once: that is one request.
                // A later signal comes from a person who does not want to wait for the checkpoint.
                if (first && Clock::now() - *first > std::chrono::seconds(1))
                    _exit(kExitInterrupted);
                if (!first) first = Clock::now();
                source.request_stop();
            }
        }).detach();
    });
    return source.get_token();
}

}  // namespace relascope::cli
