// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "app/cli/commands.h"
#include "app/serve/request_handler.h"
#include "train/devices.h"
#include "types/error.h"

namespace relascope::cli {
namespace {

struct SessionArguments {};

int runSession(const SessionArguments&, const Call&) {
    if (::isatty(STDIN_FILENO))
        throw Error(
            "session answers requests of the window on its standard input; use inspect, generate "
            "or another command in a terminal");
    // Output of libraries must not get into the answers.
    const int out = ::dup(STDOUT_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_IGN);
    // If memory or time is short, this process gives way to a training.
    std::ofstream("/proc/self/oom_score_adj") << 600;
    ::setpriority(PRIO_PROCESS, 0, 4);
    core::initDevices(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1));
    serve::RequestHandler models;
    return serve::serve(STDIN_FILENO, out,
                        [&](serve::Request& request) { return models.answer(request); });
}

}  // namespace

Command sessionCommand() {
    return commandOf<SessionArguments>(
        "session", "opens models for a window, which asks on the standard input",
        [](CLI::App&, SessionArguments&) {}, runSession);
}

}  // namespace relascope::cli
