#include <unistd.h>
#include <csignal>
#include <mutex>
#include <thread>

#include "app/cli/cli.h"

namespace relascope {

std::stop_token stopOnSignals() {
    static std::stop_source source;
    static std::once_flag once;
    std::call_once(once, [] {
        // Signals are taken by one thread that waits for them, never by a handler.
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        std::thread([signals] {
            for (int count = 0;; ++count) {
                int signal = 0;
                if (sigwait(&signals, &signal) != 0) continue;
                if (count > 0) _exit(kExitInterrupted);
                source.request_stop();
            }
        }).detach();
    });
    return source.get_token();
}

}  // namespace relascope
