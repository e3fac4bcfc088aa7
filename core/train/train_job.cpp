// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/train_job.h"

namespace relascope::core {

void TrainJob::addElapsed() {
    state.seconds = elapsed();
    resumed = Clock::now();
}

void TrainJob::report(RunState runState, const std::string& message) {
    auto& info = folder.info();
    info.state = runState;
    info.message = message;
    info.step = state.step, info.epoch = epochNow();
    info.seconds = runState == RunState::Running ? elapsed() : state.seconds;
    retryUntilDiskHasRoom([&] { folder.saveInfo(); });
    sink(RunChanged{info});
}

void TrainJob::reportEnd(RunState runState, std::string message) {
    auto& info = folder.info();
    info.step = state.step, info.epoch = epochNow(), info.seconds = state.seconds;
    std::string problem;
    try {
        retryUntilDiskHasRoom([&] {
            info.state = runState;
            info.message = message;
            folder.flush();
            folder.saveInfo();
        });
    } catch (const std::exception& error) {
        problem = userMessage(error);
    }
    if (!problem.empty()) {
        // run.json still calls the run running, and without a process that means interrupted.
        if (runState != RunState::Failed) info.state = RunState::Interrupted;
        info.message += (message.empty() ? "" : "; ") + ("its end is not recorded: " + problem) +
                        "; resume the run to continue it";
        sink(Note{Note::Level::Warning, state.step, info.message});
        folder.trySaveInfo();  // the lines may be what could not be written
    }
    sink(RunChanged{info});
}

// The lines of notes and points stay in memory until they are written: a run that is stopped while
// the disk is full ends as any other.
void TrainJob::note(Note note) {
    folder.append(note);
    sink(std::move(note));
    flushIfDue();
}

void TrainJob::record(const MetricPoint& point) {
    folder.append(point);
    sink(point);
    flushIfDue();
}

void TrainJob::flushIfDue() {
    if (!folder.flushIsDue()) return;
    try {
        retryUntilDiskHasRoom([&] { folder.flush(); });
    } catch (const DiskFull&) {
        if (!stop.stop_requested()) throw;
    }
}

void TrainJob::checkpoint() {
    lastCheckpoint = Clock::now();
    const auto optimizerState = optimizer->state();
    isSaved = true;
    if (!leads()) return;
    TrainState saved = state;
    saved.seconds = elapsed();
    retryUntilDiskHasRoom([&] {
        folder.flush();  // first, so that a checkpoint never has more steps than the metrics
        saveCheckpoint(folder.checkpointsPath(), *model, optimizerState, saved,
                       form ? &*form : nullptr);
    });
    pruneCheckpoints(folder.checkpointsPath(), state.bestStep);
    note(Note::Level::Checkpoint, "checkpoint at step " + std::to_string(state.step));
    auto& info = folder.info();
    info.step = state.step, info.epoch = epochNow(), info.seconds = saved.seconds;
    retryUntilDiskHasRoom([&] { folder.saveInfo(); });
}

void TrainJob::beginDiskFull(const std::string& problem) {
    auto info = folder.info();
    info.state = RunState::Paused;
    info.message = problem;
    sink(RunChanged{info});
    const auto until = ranks ? "; the run waits for at most " +
                                   std::to_string(ranks->place().timeout.count()) +
                                   " s, as the other ranks do (--rank-timeout)"
                             : std::string();
    sink(Note{Note::Level::Warning, state.step,
              "paused: " + problem + "; the last checkpoint is intact" + until});
}

void TrainJob::waitForSpace(Clock::time_point began) {
    for (int wait = 0; wait < 20 && !stop.stop_requested(); ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (!ranks) return;
    if (const auto loss = ranks->lossNow(); !loss.empty()) throw RankLost(loss);
    if (Clock::now() - began > ranks->place().timeout)
        throw Error("the disk was full for more than the " +
                    std::to_string(ranks->place().timeout.count()) +
                    " s that the other ranks wait (--rank-timeout); free some disk space and "
                    "resume the run");
}

void TrainJob::endDiskFull() {
    sink(Note{Note::Level::Info, state.step, "disk space is available again; training continues"});
    sink(RunChanged{folder.info()});
}

void TrainJob::keepThisCheckpoint(const RunOptions& with) {
    if (!leads()) return;
    retryUntilDiskHasRoom([&] {
        keepCheckpoint(folder.checkpointsPath() + "/step-" + std::to_string(state.step), with);
    });
}

}  // namespace relascope::core
