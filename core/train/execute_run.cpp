// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/execute_run.h"

#include <malloc.h>

#include <array>
#include <cstdio>
#include <optional>

#include "checkpoint/start_from.h"
#include "train/out_of_memory.h"
#include "train/rank_run.h"

namespace relascope::core {
namespace {

// The numbers of a version: "0.5.0" -> {0, 5, 0}.
std::array<int, 3> versionNumbers(const std::string& text) {
    std::array<int, 3> numbers{};
    std::sscanf(text.c_str(), "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]);
    return numbers;
}

// Notes when the data options give other examples now than in the version that began the run.
void noteOtherExamples(RunFolder& folder, const DatasetInfo& data, const EventSink& sink) {
    const std::string began = folder.fact("version");
    if (data.since.empty() || began.empty() || versionNumbers(began) >= versionNumbers(data.since))
        return;
    const Note note{Note::Level::Warning, folder.info().step,
                    "the run was begun by version " + began + ", and version " + data.since +
                        " generates the examples of " + data.task +
                        " by another rule: from here on it trains on other examples"};
    folder.append(note);
    sink(note);
}

TrainResult resumeRun(const RunRequest& request, const DataOpener& open, Control& control,
                      const EventSink& sink, std::stop_token stop, RankGroup* ranks) {
    RunFolder folder = RunFolder::open(request.path);
    folder.setDoor(request.door);
    RunOptions options = request.options;
    options.model = folder.options().model;  // the vocabulary was built from the text
    folder.setOptions(options);
    // The tokenizer that the run began with, even if the text has changed since.
    options.data = runData(request.path, options.data);
    const DataSplits data = open(options, stop);
    noteOtherExamples(folder, data.train->info(), sink);
    beginRanks(ranks, folder, options);
    return train(folder, data, control, sink, std::move(stop), request.edits, ranks);
}

// Gives the memory of a run back to the system at its end: until then the program keeps it
// (startup/keep_memory.cpp), and LibTorch keeps the memory of the device.
struct ReturnsMemory {
    ReturnsMemory() = default;
    ~ReturnsMemory() {
        releaseDeviceMemory();
#if defined(__GLIBC__)
        malloc_trim(0);
#endif
    }
    ReturnsMemory(const ReturnsMemory&) = delete;
    ReturnsMemory& operator=(const ReturnsMemory&) = delete;
};

TrainResult execute(const RunRequest& request, const DataOpener& open, Control& control,
                    const EventSink& sink, std::stop_token stop, RankGroup* ranks) {
    const ReturnsMemory atTheEnd;
    if (request.resume) return resumeRun(request, open, control, sink, std::move(stop), ranks);
    std::optional<RunFolder> claimed;
    if (request.started) {
        claimed.emplace(RunFolder::open(request.path));
        claimed->setDoor(request.door);
    }
    try {
        request.options.check();
        if (const auto& from = request.options.train.init_from; !from.empty())
            requireStart(request.options, openStart(from));  // before the data, which may take long
        const DataSplits data = open(request.options, stop);
        if (!claimed) claimed.emplace(RunFolder::create(request.path, request.options));
        RunFolder& folder = *claimed;
        folder.setDoor(request.door);
        folder.info().seed = request.seed;
        folder.saveInfo();  // from here on a killed run can be resumed
        beginRanks(ranks, folder, request.options);
        return train(folder, data, control, sink, std::move(stop), request.edits, ranks);
    } catch (const std::exception& error) {
        if (claimed && (request.started || !claimed->removeStart())) {
            claimed->info().state = RunState::Failed;
            claimed->info().message = userMessage(error);
            claimed->trySaveInfo();
        }
        throw;
    }
}

}  // namespace

TrainResult executeRun(const RunRequest& request, const DataOpener& open, Control& control,
                       const EventSink& sink, std::stop_token stop) {
    return withRanks(request, sink, stop, [&](const RunRequest& now, RankGroup* ranks) {
        return execute(now, open, control, sink, stop, ranks);
    });
}

}  // namespace relascope::core
