// SPDX-License-Identifier: GPL-3.0-or-later
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "files/file_lock.h"
#include "run/run_folder.h"
#include "run/run_process.h"
#include "types/text_format.h"
#include "wire/child_process.h"
#include "wire/start_run.h"

namespace relascope::cli {
namespace {

struct AttachArguments {
    std::string run;
};

bool writeAll(int to, const char* bytes, std::size_t size) {
    while (size > 0) {
        const auto written = ::write(to, bytes, size);
        if (written < 0 && errno == EAGAIN) {
            pollfd waiting{to, POLLOUT, 0};
            ::poll(&waiting, 1, -1);
        } else if (written < 0 && errno != EINTR) {
            return false;
        } else if (written > 0) {
            bytes += written;
            size -= static_cast<std::size_t>(written);
        }
    }
    return true;
}

void say(const wire::Json& message) {
    const auto frame = wire::frameBytes(message);
    writeAll(STDOUT_FILENO, reinterpret_cast<const char*>(frame.data()), frame.size());
}

// Copies what each side writes to the other until one of them is gone.
void copy(int socket) {
    std::array<char, 1 << 16> bytes;
    const std::array<std::pair<int, int>, 2> ways = {std::pair(STDIN_FILENO, socket),
                                                     std::pair(socket, STDOUT_FILENO)};
    for (;;) {
        std::array<pollfd, 2> waiting = {pollfd{STDIN_FILENO, POLLIN, 0},
                                         pollfd{socket, POLLIN, 0}};
        if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
        for (std::size_t i = 0; i < ways.size(); ++i) {
            if (!waiting[i].revents) continue;
            const auto got = ::read(ways[i].first, bytes.data(), bytes.size());
            if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
            if (got <= 0 || !writeAll(ways[i].second, bytes.data(), static_cast<std::size_t>(got)))
                return;
        }
    }
}

// Attaches to a run that a job on another machine trains, by a command on that machine.
void attachOn(const core::RunProcess& process, const std::string& run) {
    std::vector<std::string> words;
    if (!process.job.empty())
        words = {"srun",   "--overlap", "--jobid", process.job, wire::commandProgram(),
                 "attach", run};
    else
        words = {"ssh",
                 "-T",
                 "-o",
                 "BatchMode=yes",
                 "-o",
                 "ConnectTimeout=10",
                 process.machine,
                 shellWord(wire::commandProgram()) + " attach " + shellWord(run)};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
}

int attach(const AttachArguments& a, const Call&) {
    std::signal(SIGPIPE, SIG_IGN);
    for (int tries = 60;;) {
        if (auto door = wire::doorOf(a.run)) {
            say({{"m", "attached"}});
            copy(door.get());
            return 0;
        }
        if (!core::isTrained(a.run)) break;
        if (core::FileLock::isHeld(a.run + "/.lock")) {
            const auto process = core::readRunProcess(a.run);
            const bool elsewhere = process && process->machine != core::thisProcess().machine;
            if (elsewhere) attachOn(*process, a.run);
            // The process writes its facts a moment after it has taken the lock.
            if (elsewhere || --tries == 0) {
                say({{"m", "refused"}, {"text", folderName(a.run) + " " + wire::whyNoDoor(a.run)}});
                return kExitFailed;
            }
        }
        // The run is being started, perhaps by a launcher that waits for a machine.
        pollfd gone{STDIN_FILENO, 0, 0};
        if (::poll(&gone, 1, 50) > 0 && (gone.revents & (POLLHUP | POLLERR))) return kExitFailed;
    }
    say({{"m", "refused"}, {"text", wire::lastWords(a.run)}});
    wire::discardStart(a.run);
    return kExitFailed;
}

}  // namespace

Command attachCommand() {
    return commandOf<AttachArguments>(
        "attach", "connects its standard input and output to the process that trains a run",
        [](CLI::App& command, AttachArguments& a) {
            command.add_option("run", a.run, "folder of the run")->required();
        },
        attach);
}

}  // namespace relascope::cli
