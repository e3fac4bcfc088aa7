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
    whileDiskFull([&] { folder.saveInfo(); });
    sink(RunChanged{info});
}

void TrainJob::note(Note note) {
    whileDiskFull([&] { folder.append(note); });
    sink(std::move(note));
}

void TrainJob::record(const MetricPoint& point) {
    whileDiskFull([&] { folder.append(point); });
    sink(point);
}

void TrainJob::checkpoint() {
    lastCheckpoint = Clock::now();
    const auto optimizerState = optimizer->state();
    if (!leads()) return;
    TrainState saved = state;
    saved.seconds = elapsed();
    whileDiskFull([&] {
        folder.flush();  // first, so that a checkpoint never has more steps than the metrics
        saveCheckpoint(folder.checkpointsPath(), *model, optimizerState, saved);
        auto& info = folder.info();
        info.step = state.step, info.epoch = epochNow(), info.seconds = saved.seconds;
        folder.saveInfo();
    });
    pruneCheckpoints(folder.checkpointsPath(), state.bestStep);
    note(Note::Level::Checkpoint, "checkpoint at step " + std::to_string(state.step));
}

void TrainJob::keepThisCheckpoint(const RunOptions& with) {
    if (!leads()) return;
    whileDiskFull([&] {
        keepCheckpoint(folder.checkpointsPath() + "/step-" + std::to_string(state.step), with);
    });
}

}  // namespace relascope::core
