// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>

#include "app/cli/commands.h"
#include "app/serve/request_handler.h"
#include "files/machine_limits.h"
#include "train/devices.h"
#include "types/error.h"
#include "wire/types.h"

namespace relascope::cli {
namespace {

struct SessionArguments {};

// Threads for the requests of a window; the process answers them beside its reader.
int sessionThreads() {
    return std::max(1, core::usableCores() - 1);
}

// command: {words, folder}: runs a command that takes --json (answerCommand()) in the folder that
// its relative paths begin at. Answers {code, said}, and what it printed as the blob.
wire::Frame runCommand(serve::Request& request) {
    const auto& message = request.message();
    const auto words = wire::valueOf<std::vector<std::string>>(message, "words");
    const auto folder = wire::valueOf<std::string>(message, "folder");
    if (!folder.empty() && ::chdir(folder.c_str()) != 0)
        throw FileError(folder, std::string("cannot be entered: ") + std::strerror(errno));
    struct Threads {  // --threads is of this command alone
        ~Threads() { core::initDevices(sessionThreads()); }
    } const restored;
    const wire::ServedWaitScope wait(request.wait());
    const auto answer =
        answerCommand(words, request.stop(), [&](double fraction) { request.progress(fraction); });
    return {{{"code", answer.code}, {"said", answer.said}},
            wire::Bytes(answer.text.begin(), answer.text.end())};
}

int runSession(const SessionArguments&, const Call&) {
    if (::isatty(STDIN_FILENO))
        throw Error(
            "session answers requests of the window on its standard input; use inspect, generate "
            "or another command in a terminal");
    // Output of libraries must not get into the answers, nor requests into what a command reads.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const int in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::close(nothing);
    std::signal(SIGPIPE, SIG_IGN);
    // If memory or time is short, this process gives way to a training.
    std::ofstream("/proc/self/oom_score_adj") << 600;
    ::setpriority(PRIO_PROCESS, 0, 4);
    return serve::serve(in, out, [] {
        core::initDevices(sessionThreads());
        const auto models = std::make_shared<serve::RequestHandler>();
        return [models](serve::Request& request) {
            if (wire::valueOf<std::string>(request.message(), "m") == "command")
                return runCommand(request);
            return models->answer(request);
        };
    });
}

}  // namespace

Command sessionCommand() {
    return commandOf<SessionArguments>(
        "session", "opens models for a window, which asks on the standard input",
        [](CLI::App&, SessionArguments&) {}, runSession);
}

}  // namespace relascope::cli
