// SPDX-License-Identifier: GPL-3.0-or-later
// Starts a training in a process of its own, which lives on without the one that started it.
//
// The folder of the run is made first, with run.json (state "queued") and start.json; then
// `relascope-cli train --start RUN` is started in a session of its own, with its output in RUN/log.
// It inherits RUN/.starting, locked: the run counts as trained until its process has the lock
// itself.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "types/run_options.h"
#include "wire/socket.h"

namespace relascope::wire {

/// The descriptor by which the process inherits RUN/.starting.
inline constexpr int kInheritedLock = 3;

struct StartRequest {
    RunOptions options;  ///< one run for each of train.seeds, one after another
    std::string folder;  ///< where the new runs are made
    std::string resume;  ///< or the run to go on with; `options` as RunRequest::options
    int threads = 0;     ///< of the CPU; 0: one per core
    bool queue = false;  ///< waits while another training uses one of its devices
    std::vector<std::string> launch = {};  ///< words of a command that is put before the training's
    /// Whether startRun() waits until the process answers at its door; else it returns without one.
    bool waits = true;
    /// The job ends with its first connection: of pictures and tests.
    bool endsWithWindow = false;
};

struct StartedRun {
    std::string path;  ///< of the first run
    Descriptor door;
};

/// Starts a training; where the folder lies in the mirror of a host (wire/host.h), on that host.
/// Returns once the process answers at its door. Throws OptionError and FileError for what cannot
/// be trained, Error with the last words of a process that ended before, Cancelled. A new run that
/// was refused leaves no folder.
/// `ending`: ends a run on a host whose process has not answered yet, and throws Cancelled.
StartedRun startRun(const StartRequest& request, std::stop_token stop, std::stop_token ending = {});

/// Ends the process that trains a run, or the launcher behind which it is being started, at once
/// and with its children: SIGKILL, or scancel for a job of Slurm on another machine. What came
/// after the last checkpoint is lost; a new run that had not been begun is removed. Returns once
/// the run is free. A run in the mirror of a host is ended there. Throws Error with a sentence
/// where the process is not found, or does not end within 15 s.
void endRun(const std::string& run);

/// What RUN/start.json says; `folder` is that of the runs of further seeds. Throws FileError.
StartRequest readStart(const std::string& run);
/// Where startRun() puts the run of a seed: RUN itself, or beside it.
std::string pathOfSeed(const std::string& run, const StartRequest& request, std::int64_t seed);

/// Connects to the process that trains a run; without one, or where it has no door, none.
Descriptor doorOf(const std::string& run);
/// Why the process of a run has ended before its first step.
std::string lastWords(const std::string& run);
/// Removes a run that was begun by startRun() and has ended before its first step.
void discardStart(const std::string& run);
/// Why doorOf() finds none though the run is trained, after its name: "is trained on node7: ...";
/// empty if it is still being started.
std::string whyNoDoor(const std::string& run);

}  // namespace relascope::wire
