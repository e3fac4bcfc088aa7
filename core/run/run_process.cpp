// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_process.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "files/machine_limits.h"
#include "options/builtin_resources.h"
#include "run/json_values.h"

namespace relascope::core {
namespace {

std::string machineName() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string firstLine(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// How many processes the system has ended for want of memory since it was started.
std::int64_t oomKills() {
    std::ifstream file("/proc/vmstat");
    std::string name;
    for (std::int64_t value = 0; file >> name >> value;)
        if (name == "oom_kill") return value;
    return groupOomKills();  // a system that counts by group alone
}

// The words that a process has written to RUN/log when it crashed (app/cli/last_words.h); else
// empty.
std::string crashWords(const std::string& run, std::int64_t pid) {
    constexpr std::string_view head = "relascope-cli: crashed: ";
    const std::string tail = "info " + std::to_string(pid) + "' says where";
    std::ifstream log(run + "/log");
    for (std::string line; std::getline(log, line);)
        if (line.starts_with(head) && line.ends_with(tail)) return line.substr(head.size());
    return {};
}

}  // namespace

RunProcess thisProcess(std::string socket) {
    RunProcess process;
    process.pid = ::getpid();
    process.machine = machineName();
    process.boot = firstLine("/proc/sys/kernel/random/boot_id");
    process.socket = std::move(socket);
    process.version = builtin::version();
    process.protocol = process.socket.empty() ? 0 : kDoorProtocol;
    process.oomKills = oomKills();
    if (const char* job = std::getenv("SLURM_JOB_ID")) process.job = job;
    return process;
}

std::string processLine(const RunProcess& p) {
    const Json json = {{"pid", p.pid},           {"machine", p.machine}, {"boot", p.boot},
                       {"socket", p.socket},     {"version", p.version}, {"protocol", p.protocol},
                       {"oom_kill", p.oomKills}, {"job", p.job}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<RunProcess> processFromLine(const std::string& line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    RunProcess p;
    p.pid = get<std::int64_t>(json, "pid", 0);
    p.machine = get<std::string>(json, "machine", "");
    p.boot = get<std::string>(json, "boot", "");
    p.socket = get<std::string>(json, "socket", "");
    p.version = get<std::string>(json, "version", "");
    p.protocol = get<int>(json, "protocol", 0);
    p.oomKills = get<std::int64_t>(json, "oom_kill", 0);
    p.job = get<std::string>(json, "job", "");
    return p.pid > 0 ? std::optional(p) : std::nullopt;
}

std::optional<RunProcess> readRunProcess(const std::string& run) {
    try {
        return processFromLine(readTextFile(run + "/.lock", 1 << 16));
    } catch (const FileError&) {
        return std::nullopt;
    }
}

std::optional<FarRun> readFarRun(const std::string& run) {
    const std::string file = run + "/.far";
    if (std::error_code error; !std::filesystem::exists(file, error)) return std::nullopt;
    try {
        const Json json = Json::parse(readTextFile(file, 1 << 16), nullptr, false);
        if (!json.is_object()) return std::nullopt;
        return FarRun{get<std::string>(json, "host", ""), get<std::string>(json, "path", ""),
                      get<bool>(json, "held", false), get<std::string>(json, "ended", ""),
                      get<std::vector<std::int64_t>>(json, "kept", {})};
    } catch (const FileError&) {
        return std::nullopt;
    }
}

void writeFarRun(const std::string& run, const FarRun& far) {
    const Json json = {{"host", far.host},
                       {"path", far.path},
                       {"held", far.held},
                       {"ended", far.ended},
                       {"kept", far.kept}};
    writeTextFile(run + "/.far", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

bool isTrained(const std::string& run) {
    if (const auto far = readFarRun(run)) return far->held;
    // A process that is being started holds .starting until it holds .lock, too.
    return FileLock::isHeld(run + "/.starting") || FileLock::isHeld(run + "/.lock");
}

std::int64_t lastWholeCheckpoint(const std::string& run) {
    std::int64_t last = -1;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(run + "/checkpoints", error)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = 0;
        if (!name.starts_with("step-") ||
            std::from_chars(name.data() + 5, name.data() + name.size(), step).ptr !=
                name.data() + name.size())
            continue;
        if (std::filesystem::exists(entry.path() / "manifest.json", error))
            last = std::max(last, step);
    }
    return last;
}

std::string howItEnded(const RunProcess& process, std::int64_t step, const std::string& run) {
    const std::string at = step > 0 ? " at step " + std::to_string(step) : "";
    if (process.machine != machineName())
        return "the process on " + process.machine + " has ended" + at;
    if (process.boot != firstLine("/proc/sys/kernel/random/boot_id"))
        return "the computer was restarted while the run trained";
    if (const auto words = crashWords(run, process.pid); !words.empty())
        return "the program crashed" + at + ": " + words;
    if (const auto kills = oomKills() - process.oomKills; kills > 0)
        return "the process ended" + at + ", probably for want of memory (the system ended " +
               std::to_string(kills) + (kills == 1 ? " process" : " processes") + " meanwhile)";
    return "the process was ended from outside" + at;
}

}  // namespace relascope::core
