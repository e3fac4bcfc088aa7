// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/start_study.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "files/machine_limits.h"
#include "run/run_process.h"
#include "wire/host.h"
#include "wire/host_link.h"
#include "wire/start_run.h"

namespace relascope::wire {
namespace {

std::string workerFile(const std::string& study) {
    return study + "/.worker";
}

Host hostOf(const FarPath& far) {
    const auto host = findHost(far.host);
    if (!host) throw Error(far.host + " is not among the machines any more.");
    return *host;
}

// Not behind the launcher of views.
void askHost(const FarPath& far, const char* what, Json request,
             const std::function<bool()>& wanted) {
    request["study"] = far.path;
    Session(hostOf(far), wanted).ask(what, std::move(request), [&](double) { return wanted(); });
}

}  // namespace

void createFarStudy(const std::string& study, const std::string& plan,
                    const std::function<bool()>& wanted) {
    const auto far = farPathOf(study);
    if (!far) throw FileError(study, "is not in the mirror of another machine");
    Session session(hostOf(*far), wanted);
    session.ask("create study", {{"study", far->path}, {"plan", plan}},
                [&](double) { return wanted(); });
    // Makes the study's folder in the mirror, so that it can be shown at once.
    core::makeDirectories(study);
    core::writeFarRun(study, {far->host, far->path, false, {}, {}});
    mirrorFile(session, study + "/study.json", wanted);
}

std::optional<ChildProcess> startStudy(const StudyStart& start,
                                       const std::function<bool()>& wanted) {
    if (const auto far = farPathOf(start.study)) {
        askHost(*far, "start study",
                {{"jobs", start.jobs}, {"retry", start.retry}, {"launch", hostOf(*far).launch}},
                wanted);
        return std::nullopt;
    }
    const std::string file = workerFile(start.study), log = start.study + "/log";
    core::FileLock lock(file);
    if (!lock.held())
        throw FileError(start.study, "is run by another process; stop that one first");
    const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const Descriptor words(
        ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
    if (!words) core::throwWriteError(log, "cannot be made", errno);
    // One core is left to the window.
    const int cores = core::usableCores();
    const int threads = std::max(1, (cores - 1) / std::max(1, start.jobs));
    auto command = start.launch;
    command.insert(
        command.end(),
        {start.program.empty() ? commandProgram() : start.program, "study", "--out", start.study,
         "--jobs", std::to_string(start.jobs), "--threads", std::to_string(threads), "--quiet"});
    if (start.retry) command.emplace_back("--retry");
    ChildProcess process(std::move(command), {{nothing.get(), 0},
                                              {nothing.get(), 1},
                                              {words.get(), 2},
                                              {lock.descriptor(), kInheritedLock}});
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(process.id()), 4);  // the window answers first
    auto worker = core::thisProcess();
    worker.pid = process.id();
    lock.write(core::processLine(worker));
    return process;
}

void stopStudy(const std::string& study, const std::function<bool()>& wanted) {
    if (const auto far = farPathOf(study)) return askHost(*far, "stop study", {}, wanted);
    const std::string file = workerFile(study);
    // One that has just been started by another process is not named yet.
    std::optional<core::RunProcess> process;
    for (int tries = 0; tries < 20 && !process; ++tries) {
        if (!core::FileLock::isHeld(file)) return;
        if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        process = core::processFromLine(core::readTextFile(file, 64 << 10));
    }
    if (!process) throw Error("The process that works on " + study + " is not known.");
    if (process->machine != core::thisProcess().machine)
        throw Error("The study is run on " + process->machine + "; end process " +
                    std::to_string(process->pid) + " there.");
    if (process->pid > 1) ::kill(static_cast<pid_t>(process->pid), SIGTERM);
}

bool isWorkedOn(const std::string& study) {
    if (const auto far = core::readFarRun(study)) return far->held;
    return core::FileLock::isHeld(workerFile(study));
}

}  // namespace relascope::wire
