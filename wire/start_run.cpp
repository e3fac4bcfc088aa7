// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/start_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
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
    return line.empty() ? "the process of the training has ended at once" : line;
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

// On a host, whose answer names the run there.
StartedRun startFarRun(const StartRequest& request, const std::string& name,
                       const std::stop_token& stop) {
    const auto host = findHost(name);
    if (!host) throw Error(name + " is not among the machines any more.");
    Session session;
    const auto wanted = [&] { return !stop.stop_requested(); };
    const auto run = mirrorPath(
        name, startThere(session, request, host->launch, [&](double) { return wanted(); }));
    return {run, farDoor(*farPathOf(run), wanted)};
}

}  // namespace

StartedRun startRun(const StartRequest& request, std::stop_token stop) {
    if (const auto far = farPathOf(request.resume.empty() ? request.folder : request.resume))
        return startFarRun(request, far->host, stop);
    const bool isNew = request.resume.empty();
    request.options.check();
    core::runOptionsFromJson(core::runOptionsToJson(request.options));  // its bounds
    commandProgram();
    if (!isNew && core::isTrained(request.resume))
        throw FileError(request.resume, "is being trained by another process; stop that one first");
    StartedRun started{isNew ? makeRun(request) : request.resume, {}};
    const auto discard = [&] {
        if (!isNew) return;
        try {
            core::RunFolder::discardStart(started.path);
        } catch (const Error&) {  // it is listed as failed then
        }
    };
    try {
        writeStart(started.path, request);
        std::optional<ChildProcess> child;
        {
            const core::FileLock starting(started.path + "/.starting");
            if (!starting.held())
                throw FileError(started.path, "is being started by another process");
            child = spawn(started.path, starting, request.launch);
        }
        if (!request.waits) return started;
        for (;;) {
            const bool ended = child->status().has_value();
            if (!ended) started.door = doorOf(started.path);
            if (started.door) return started;
            if (ended) throw Error(lastWords(started.path));
            if (stop.stop_requested()) throw Cancelled();
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    } catch (const Cancelled&) {
        throw;  // the process continues; whoever wants to end it asks at its door
    } catch (const Error&) {
        discard();
        throw;
    }
}

}  // namespace relascope::wire
