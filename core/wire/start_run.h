// SPDX-License-Identifier: GPL-3.0-or-later
// Starts a training in a process of its own, which lives on without the one that started it.
//
// The folder of the run is made first, with run.json (state "queued") and start.json; then
// `relascope-cli train --start RUN` is started in a session of its own, with its output in RUN/log.
// The process inherits RUN/.starting, locked: the run counts as being trained until the process has
// its own lock.
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
    std::string resume;  ///< or the run to resume; `options` as RunRequest::options
    int threads = 0;     ///< threads of the CPU; 0: one per core
    bool queue = false;  ///< waits while another training uses one of its devices
    std::vector<std::string> launch = {};  ///< words of a command that is put before the training's
    /// Whether startRun() waits until the process answers at its door; else it returns without one.
    bool waits = true;
    /// Whether the job ends with its first connection: for pictures and tests.
    bool endsWithWindow = false;
};

struct StartedRun {
    std::string path;      ///< folder of the first run
    Descriptor door;       ///< door of its process; empty: see `why`
    std::string why = {};  ///< why there is no door, as a sentence after the run's name
};

/// Starts a training; where the folder lies in the mirror of a host (wire/host.h), on that host.
/// Returns once the process answers at its door. Throws OptionError and FileError if the request
/// cannot be trained, Error with the last words of a process that ended before, Cancelled. A new
/// run that was refused leaves no folder.
/// `ending`: ends a run on a host whose process has not answered yet, and throws Cancelled.
StartedRun startRun(const StartRequest& request, std::stop_token stop, std::stop_token ending = {});

/// Ends the process that trains a run, or the launcher behind which it is being started, at once
/// and with its children: SIGKILL, or scancel for a job of Slurm on another machine. Steps after
/// the last checkpoint are lost; a new run that had not been begun is removed. Returns once
/// the run is free. A run in the mirror of a host is ended there. Throws Error with a sentence
/// where the process is not found, or does not end within 15 s.
void endRun(const std::string& run);

/// Reads RUN/start.json; `folder` is the folder for the runs of further seeds. Throws FileError.
StartRequest readStart(const std::string& run);
/// The folder that startRun() makes for the run of a seed: RUN itself, or one beside it.
std::string pathOfSeed(const std::string& run, const StartRequest& request, std::int64_t seed);

/// Connects to the process that trains a run, here or on its host, as startRun() does to the one
/// that it starts. Without a process there is neither a door nor a reason. Throws Cancelled.
StartedRun attachTo(const std::string& run, std::stop_token stop);
/// Connects to the process that trains a run; an empty descriptor without a process or a door.
Descriptor doorOf(const std::string& run);
/// Why the process of a run has ended before its first step.
std::string lastWords(const std::string& run);
/// Removes a run that was begun by startRun() and has ended before its first step.
void discardStart(const std::string& run);
/// Why doorOf() finds no door of a run that is trained, as a sentence after the run's name: "is
/// trained on node7: ..."; empty if it is still being started.
std::string whyNoDoor(const std::string& run);

}  // namespace relascope::wire
