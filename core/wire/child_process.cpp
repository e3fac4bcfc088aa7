// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/child_process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>

#include "files/program_folder.h"
#include "types/error.h"

extern char** environ;

namespace relascope::wire {

struct ChildProcess::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<int> status;
    pid_t id = 0;
};

ChildProcess::ChildProcess(std::vector<std::string> words,
                           const std::vector<std::pair<int, int>>& files,
                           std::vector<std::string> environment)
    : m_shared(std::make_shared<Shared>()) {
    std::vector<char*> arguments, variables;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    for (auto& variable : environment) variables.push_back(variable.data());
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text(*variable);
        const auto name = text.substr(0, text.find('=') + 1);
        if (std::none_of(environment.begin(), environment.end(),
                         [&](const auto& given) { return given.starts_with(name); }))
            variables.push_back(*variable);
    }
    variables.push_back(nullptr);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) sigaddset(&usual, signal);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int free = STDERR_FILENO + 1;
    for (const auto& [from, to] : files) {
        posix_spawn_file_actions_adddup2(&actions, from, to);
        free = std::max(free, to + 1);
    }
    // Libraries open pipes that are inherited: while a child holds the other end of one, its reader
    // waits for an end that does not come.
    posix_spawn_file_actions_addclosefrom_np(&actions, free);
    pid_t process = 0;
    const int problem = posix_spawnp(&process, words[0].c_str(), &actions, &attributes,
                                     arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (problem != 0) throw Error(words[0] + " cannot be started: " + std::strerror(problem));
    m_shared->id = process;
    // Takes note of its end, however long this process lives.
    std::thread([process, shared = m_shared] {
        int status = 0;
        while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
        std::lock_guard lock(shared->mutex);
        shared->status = status;
        shared->changed.notify_all();
    }).detach();
}

int ChildProcess::id() const {
    return m_shared->id;
}

std::optional<int> ChildProcess::status(std::chrono::milliseconds wait) const {
    std::unique_lock lock(m_shared->mutex);
    m_shared->changed.wait_for(lock, wait, [&] { return m_shared->status.has_value(); });
    return m_shared->status;
}

std::string commandProgram() {
    const auto program = core::programFolder() / "relascope-cli";
    if (!std::filesystem::exists(program))
        throw Error(
            "relascope-cli was not found beside this program; install it to train and inspect");
    return program.string();
}

}  // namespace relascope::wire
