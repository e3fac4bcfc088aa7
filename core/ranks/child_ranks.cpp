// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranks/child_ranks.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "files/program_folder.h"
#include "types/error.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

constexpr const char* kParent = "RELASCOPE_RANK_PARENT";

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace

ChildRanks::ChildRanks(const RankPlace& place, const std::vector<std::string>& devices, int threads,
                       const std::string& program) {
    auto environment = processEnvironment();
    environment["RELASCOPE_RANKS"] = std::to_string(devices.size());
    environment["RELASCOPE_RANK_HOST"] = place.host;
    environment["RELASCOPE_RANK_PORT"] = std::to_string(place.port);
    environment["RELASCOPE_RANK_KEY"] = place.key;  // not an argument, which every user can list
    environment["RELASCOPE_RANK_TIMEOUT"] = std::to_string(place.timeout.count());
    environment[kParent] = std::to_string(getpid());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own: Ctrl+C reaches rank 0 alone.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    int error = 0;
    for (std::size_t r = 1; r < devices.size() && error == 0; ++r) {
        environment["RELASCOPE_RANK"] = std::to_string(r);
        std::vector<std::string> variables;
        variables.reserve(environment.size());
        for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
        std::vector<std::string> arguments = {program,    "rank",      "--device",
                                              devices[r], "--threads", std::to_string(threads)};
        Child child;
        error = posix_spawn(&child.process, program.c_str(), &actions, &attributes,
                            pointersTo(arguments).data(), pointersTo(variables).data());
        if (error == 0) m_children.push_back(child);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return;
    killAll();
    throw Error("'" + program + " rank' cannot be started: " + std::strerror(error) +
                "; install relascope-cli beside this program");
}

ChildRanks::~ChildRanks() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    for (;;) {
        bool running = false;
        for (auto& child : m_children) {
            look(child);
            running = running || !child.ended;
        }
        if (!running || std::chrono::steady_clock::now() > until) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    killAll();
}

void ChildRanks::killAll() {
    for (auto& child : m_children) {
        if (child.ended) continue;
        kill(child.process, SIGKILL);
        int status = 0;
        while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
        }
        child.ended = true;
    }
}

void ChildRanks::look(Child& child) {
    int status = 0;
    if (child.ended || waitpid(child.process, &status, WNOHANG) != child.process) return;
    child.ended = true;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        child.end = "its process was killed by signal " + std::to_string(signal);
        if (signal == SIGKILL) child.end += ", perhaps for want of memory";
    } else if (WEXITSTATUS(status) != 0) {
        child.end = "its process ended with " + std::to_string(WEXITSTATUS(status));
    }
}

std::string ChildRanks::endOf(int rank) {
    if (rank < 1 || static_cast<std::size_t>(rank) > m_children.size()) return "";
    auto& child = m_children[static_cast<std::size_t>(rank - 1)];
    look(child);
    return child.end;
}

std::string rankProgram() {
    std::error_code error;
    const auto own = programFile();
    const auto beside = own.parent_path() / "relascope-cli";
    return (fs::exists(beside, error) ? beside : own).string();
}

void followParent() {
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);  // Slurm sends it to every rank; rank 0 ends the run well
    std::signal(SIGPIPE, SIG_IGN);
    const char* parent = std::getenv(kParent);
    if (!parent) return;  // started by mpirun, srun or torchrun, which end all of them
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (std::to_string(getppid()) != parent) std::exit(1);  // the parent has ended already
}

}  // namespace relascope::core
