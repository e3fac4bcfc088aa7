// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/start_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "options/options_json.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "run/run_process.h"
#include "wire/child_process.h"
#include "wire/host.h"
#include "wire/host_files.h"

namespace relascope::wire {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "relascope-start/1";

// Makes an unused folder of a name that `fresh` proposes. Another start may take it first.
std::string makeFreshFolder(const std::string& parent, const auto& fresh) {
    core::makeDirectories(parent);
    for (;;) {
        const std::string path = fresh();
        if (::mkdir(path.c_str(), 0777) == 0) return path;
        if (errno != EEXIST) core::throwWriteError(path, "cannot be made", errno);
    }
}

// Several seeds are stored in one folder, and shown as a group in lists and curves.
std::string freshGroup(const std::string& folder, const RunOptions& options) {
    const std::string single = core::freshRunPath(folder, options, options.train.seeds.front());
    const std::string mark = "-s" + std::to_string(options.train.seeds.front());
    const std::string base = single.substr(0, single.rfind(mark)) + "-seeds";
    std::string path = base;
    for (int copy = 2; fs::exists(path); ++copy) path = base + "-" + std::to_string(copy);
    return path;
}

std::string makeRun(const StartRequest& request) {
    const auto& options = request.options;
    const auto seed = options.train.seeds.empty() ? 0 : options.train.seeds.front();
    const auto fresh = [&] {
        return options.train.seeds.size() > 1 ? freshGroup(request.folder, options)
                                              : core::freshRunPath(request.folder, options, seed);
    };
    const std::string made = makeFreshFolder(request.folder, fresh);
    const std::string path =
        options.train.seeds.size() > 1 ? made + "/seed-" + std::to_string(seed) : made;
    try {
        auto run = core::RunFolder::create(path, options);
        run.info().seed = seed;
        run.saveInfo();
    } catch (const Error&) {
        std::error_code ignored;
        fs::remove(path, ignored);
        fs::remove(made, ignored);
        throw;
    }
    return path;
}

void writeStart(const std::string& run, const StartRequest& request) {
    const Json json = {{"format", kFormat},
                       {"options", core::runOptionsToJson(request.options)},
                       {"resume", !request.resume.empty()},
                       {"threads", request.threads},
                       {"queue", request.queue},
                       {"ends_with_window", request.endsWithWindow}};
    core::writeTextFile(run + "/start.json", json.dump(2) + "\n");
}

ChildProcess spawn(const std::string& run, const core::FileLock& starting,
                   const std::vector<std::string>& launch) {
    const std::string log = run + "/log";
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const Descriptor words(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!words) core::throwWriteError(log, "cannot be made", errno);
    auto command = launch;
    command.insert(command.end(), {commandProgram(), "train", "--start", run});
    return ChildProcess(std::move(command), {{nothing.get(), 0},
                                             {words.get(), 1},
                                             {words.get(), 2},
                                             {starting.descriptor(), kInheritedLock}});
}

std::string lastLine(const std::string& file) {
    std::string text;
    try {
        text = core::readTextFile(file);
    } catch (const FileError&) {
        return {};
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::string lastWords(const std::string& run) {
    try {
        if (const RunInfo info = core::readRunInfo(run);
            info.state == RunState::Failed && !info.message.empty())
            return info.message;
    } catch (const Error&) {  // then the log says it
    }
    auto line = lastLine(run + "/log");
    if (constexpr std::string_view name = "relascope-cli: "; line.starts_with(name))
        line.erase(0, name.size());
    return line.empty() ? "the process of the training has ended without a word" : line;
}

void discardStart(const std::string& run) {
    try {
        if (readStart(run).resume.empty()) core::RunFolder::discardStart(run);
    } catch (const Error&) {  // it is listed as failed then
    }
}

std::string pathOfSeed(const std::string& run, const StartRequest& request, std::int64_t seed) {
    if (request.options.train.seeds.size() < 2) return run;
    return fs::path(run).parent_path().string() + "/seed-" + std::to_string(seed);
}

Descriptor doorOf(const std::string& run) {
    if (const auto far = farPathOf(run)) return farDoor(*far, {});
    const auto process = core::readRunProcess(run);
    return process && !process->socket.empty() ? connectTo(process->socket) : Descriptor();
}

std::string whyNoDoor(const std::string& run) {
    if (!core::FileLock::isHeld(run + "/.lock")) return {};  // it is about to be
    const auto process = core::readRunProcess(run);
    if (!process)
        return "is trained by an older version: its curves are shown; end it where it was started";
    if (const auto here = core::thisProcess(); process->machine != here.machine)
        return "is trained on " + process->machine +
               ": its curves are shown, it is steered from a window there";
    return "does not answer: its curves are shown; its process is " + std::to_string(process->pid);
}

StartedRun attachTo(const std::string& run, std::stop_token stop) {
    StartedRun found{run, {}};
    const auto far = farPathOf(run);
    if (!far) {
        found.door = doorOf(run);
        if (!found.door && core::isTrained(run)) found.why = whyNoDoor(run);
        return found;
    }
    try {
        found.door = farDoor(*far, [&] { return !stop.stop_requested(); });
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        found.why = std::string("cannot be steered: ") + error.what();
    }
    return found;
}

StartRequest readStart(const std::string& run) {
    const std::string file = run + "/start.json";
    const Json json = Json::parse(core::readTextFile(file, 16u << 20), nullptr, false);
    try {
        if (json.at("format") != kFormat)
            throw FileError(file, "has another format than " + std::string(kFormat));
        StartRequest request;
        request.options = core::runOptionsFromJson(json.at("options").get<std::string>());
        request.folder = fs::path(run).parent_path().string();
        if (json.at("resume").get<bool>()) request.resume = run;
        json.at("threads").get_to(request.threads);
        json.at("queue").get_to(request.queue);
        json.at("ends_with_window").get_to(request.endsWithWindow);
        return request;
    } catch (const nlohmann::json::exception& error) {
        throw FileError(file, std::string("is damaged: ") + error.what());
    } catch (const OptionError& error) {
        throw FileError(file, error.what());
    }
}

namespace {

// A process that was started by startRun() leads a group with the processes that it has started.
void killProcess(std::int64_t pid, int signal) {
    const auto id = static_cast<pid_t>(pid);
    if (::kill(-id, signal) != 0) ::kill(id, signal);
}

bool isFreed(const std::string& file, std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (core::FileLock::isHeld(file)) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

// A launcher that fails before the training begins takes along what it has started. One that has
// ended well may have left it behind, as `setsid --fork` does.
void endWithLauncher(const ChildProcess& child, const std::string& run) {
    const std::string starting = run + "/.starting";
    if (child.status() == 0 || !core::FileLock::isHeld(starting) ||
        core::FileLock::isHeld(run + "/.lock"))
        return;
    killProcess(child.id(), SIGTERM);
    if (!isFreed(starting, std::chrono::milliseconds(500))) killProcess(child.id(), SIGKILL);
}

// Starts a run on a host, whose answer names the run there.
StartedRun startFarRun(const StartRequest& request, const std::string& name,
                       const std::stop_token& stop, const std::stop_token& ending) {
    const auto host = findHost(name);
    if (!host) throw Error(name + " is not among the machines any more.");
    Session session;
    const auto wanted = [&] { return !stop.stop_requested(); };
    const auto run = mirrorPath(
        name, startThere(session, request, host->launch, [&](double) { return wanted(); }));
    try {
        return {run,
                farDoor(*farPathOf(run), [&] { return wanted() && !ending.stop_requested(); })};
    } catch (const Cancelled&) {
        if (wanted()) endRun(run);
        throw;
    }
}

}  // namespace

StartedRun startRun(const StartRequest& request, std::stop_token stop, std::stop_token ending) {
    if (const auto far = farPathOf(request.resume.empty() ? request.folder : request.resume))
        return startFarRun(request, far->host, stop, ending);
    const bool isNew = request.resume.empty();
    request.options.check();
    core::runOptionsFromJson(core::runOptionsToJson(request.options));  // checks bounds
    commandProgram();
    if (request.waits) runtimeFolder();  // a run without a door would be waited for in vain
    if (!isNew && core::isTrained(request.resume))
        throw FileError(request.resume, "is being trained by another process; stop that one first");
    StartedRun started{isNew ? makeRun(request) : request.resume, {}};
    try {
        writeStart(started.path, request);
        std::optional<ChildProcess> child;
        {
            core::FileLock starting(started.path + "/.starting");
            if (!starting.held())
                throw FileError(started.path, "is being started by another process");
            child = spawn(started.path, starting, request.launch);
            auto process = core::thisProcess();
            process.pid = child->id();
            starting.write(core::processLine(process) + "\n");
        }
        if (!request.waits) {
            std::thread([child = *child, run = started.path] {
                while (!child.status(std::chrono::hours(1))) continue;
                endWithLauncher(child, run);
            }).detach();
            return started;
        }
        for (;;) {
            if (child->status()) endWithLauncher(*child, started.path);
            const bool ended = child->status() && !core::isTrained(started.path);
            if (!ended) started.door = doorOf(started.path);
            if (started.door) return started;
            if (ended) throw Error(lastWords(started.path));
            if (stop.stop_requested()) throw Cancelled();
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    } catch (const Cancelled&) {
        throw;  // the process continues; whoever wants to end it asks at its door
    } catch (const Error&) {
        if (isNew) discardStart(started.path);
        throw;
    }
}

namespace {

// Whether a process of this machine has the file open: its number may be that of another one by
// now, or count in another container.
bool hasOpen(std::int64_t pid, const std::string& file) {
    std::error_code error;
    const fs::path all = "/proc/" + std::to_string(pid) + "/fd";
    for (fs::directory_iterator it(all, error), end; !error && it != end; it.increment(error))
        if (std::error_code other; fs::equivalent(it->path(), file, other)) return true;
    return false;
}

// The processes of this machine that have the file open, without this one.
std::vector<std::int64_t> holdersOf(const std::string& file) {
    std::vector<std::int64_t> all;
    std::error_code error;
    for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
        const auto pid = std::atoll(it->path().filename().c_str());
        if (pid > 0 && pid != ::getpid() && hasOpen(pid, file)) all.push_back(pid);
    }
    return all;
}

// Cancels a job of Slurm. The output of scancel is dropped, as a session answers on standard
// output.
bool cancelJob(const std::string& job) {
    const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    try {
        const ChildProcess scancel({"scancel", job},
                                   {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}});
        return scancel.status(std::chrono::seconds(10)) == 0;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void endRun(const std::string& run) {
    if (const auto far = farPathOf(run)) {
        const auto host = findHost(far->host);
        if (!host) throw Error(far->host + " is not among the machines any more.");
        // Not behind the launcher of views: on the machine that has started it.
        Session(*host, [] { return true; }).ask("end", {{"run", far->path}});
        return;
    }
    const std::string name = fs::path(run).filename().string();
    const bool begun = core::FileLock::isHeld(run + "/.lock");
    const std::string file = run + (begun ? "/.lock" : "/.starting");
    if (!core::FileLock::isHeld(file)) throw Error("No process trains " + name + " any more.");
    const auto process = core::processFromLine(core::readTextFile(file, 1 << 16));
    if (!process) throw Error("The process that trains " + name + " is not known.");
    const auto here = core::thisProcess();
    const std::string number = std::to_string(process->pid);
    const auto end = [&](std::int64_t pid) {
        if (begun) return killProcess(pid, SIGKILL);
        killProcess(pid, SIGTERM);  // srun takes its job along
        if (!isFreed(file, std::chrono::seconds(5))) killProcess(pid, SIGKILL);
    };
    if (process->machine != here.machine) {
        if (process->job.empty() || !cancelJob(process->job))
            throw Error(name + " trains on " + process->machine + "; end process " + number +
                        " there.");
    } else if (process->boot == here.boot && hasOpen(process->pid, file)) {
        end(process->pid);
    } else {
        // A launcher that was killed may have left the processes behind that it had started.
        const auto left = holdersOf(file);
        if (left.empty())
            throw Error("Process " + number + " does not train " + name +
                        " any more; end what does where it was started.");
        for (const auto pid : left) end(pid);
    }
    if (!isFreed(file, std::chrono::seconds(10)))
        throw Error("Process " + number + ", which trains " + name + ", does not end.");
    if (!begun) discardStart(run);
}

}  // namespace relascope::wire
