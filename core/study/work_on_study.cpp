// SPDX-License-Identifier: GPL-3.0-or-later
#include "study/work_on_study.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "options/device_list.h"
#include "run/run_folder.h"
#include "study/study_plan.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

// Moves the remains of a run that cannot be resumed aside; nothing is deleted.
void moveAside(const std::string& path) {
    for (int copy = 1;; ++copy) {
        const std::string aside = path + ".failed-" + std::to_string(copy);
        if (fs::exists(aside)) continue;
        fs::rename(path, aside);
        return;
    }
}

// A new run for the cell, or the continuation of an existing one.
RunRequest requestFor(const std::string& study, const StudyPlan& plan, const StudyCell& cell,
                      const StudyWork& work) {
    RunRequest request{runPath(study, cell), {}, cell.seed};
    std::error_code error;
    const bool again = cell.state == CellState::Failed;
    // Without run.json the process was killed before writing it.
    const auto isTaken = [&] {
        return fs::exists(request.path, error) &&
               (again || (!isRunFolder(request.path) && !fs::is_empty(request.path, error)));
    };
    if (!again && isTaken()) RunFolder::discardStart(request.path);
    if (isTaken()) moveAside(request.path);
    request.resume = isRunFolder(request.path);
    request.options = request.resume ? readRunOptions(request.path) : cellOptions(plan, cell);
    request.options.train.device = work.device;
    request.door = work.door;
    return request;
}

// A start that fails leaves no folder; in a study the failure must be recorded, or it would be
// repeated.
void failCell(const std::string& study, const StudyPlan& plan, const StudyCell& cell,
              const std::string& message) {
    const std::string path = runPath(study, cell);
    try {
        RunFolder folder = isRunFolder(path) ? RunFolder::open(path)
                                             : RunFolder::create(path, cellOptions(plan, cell));
        folder.info().seed = cell.seed;
        folder.info().state = RunState::Failed;
        folder.info().message = message;
        folder.saveInfo();
    } catch (const Error&) {  // the user already gets the message
    }
}

}  // namespace

void workOnStudy(const std::string& path, const StudyWork& work, const DataOpener& open,
                 const StudySink& sink, std::stop_token stop) {
    deviceList(work.device);  // every run would fail with a wrong one
    const auto plan = readPlan(path);
    const auto all = studyCells(plan);
    std::vector<StudyCell> assigned;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (static_cast<int>(i) % work.shards == work.shard - 1) assigned.push_back(all[i]);
    // One seed of everything first, small sizes before large ones: the curves appear early.
    std::stable_sort(assigned.begin(), assigned.end(), [](const StudyCell& a, const StudyCell& b) {
        return std::pair(a.seed, a.size) < std::pair(b.seed, b.size);
    });
    makeDirectories(path + "/runs");
    makeDirectories(path + "/claims");
    requireWritable(path + "/claims");
    std::set<std::string> tried;
    Control unsteered;
    Control& control = work.control ? *work.control : unsteered;
    StudyProgress progress;
    progress.total = assigned.size();
    for (bool any = true; any;) {  // until a whole round finds no cell to work on
        any = false;
        progress.done = 0;
        for (auto& cell : assigned) {
            if (stop.stop_requested() || control.stopping()) throw Cancelled();
            const FileLock claim(claimPath(path, cell));
            if (!claim.held()) continue;
            cell.state = CellState::Waiting;
            if (const auto run = runPath(path, cell); isRunFolder(run))
                updateState(path, cell, true);
            const bool failed = cell.state == CellState::Failed;
            progress.done += cell.state == CellState::Done || failed;
            if (cell.state == CellState::Done || cell.state == CellState::Running) continue;
            if (failed && !work.retry) continue;
            if (!tried.insert(cell.name).second) continue;
            any = true;
            try {
                const RunRequest request = requestFor(path, plan, cell, work);
                control.endRun();
                cell.state = CellState::Running;
                progress.cell = cell;
                executeRun(
                    request, open, control,
                    [&](TrainEvent event) {
                        if (const auto* changed = std::get_if<RunChanged>(&event))
                            progress.cell.info = changed->info;
                        sink(progress, event);
                    },
                    stop);
            } catch (const Cancelled&) {
                throw;
            } catch (const DiskFull&) {
                throw;  // every other cell would fail as well
            } catch (const std::exception& error) {
                failCell(path, plan, cell, userMessage(error));
                progress.cell = cell;
                sink(progress, Failed{userMessage(error)});
            }
            if (stop.stop_requested()) throw Cancelled();
            updateState(path, cell, true);
            progress.cell = cell;
            ++progress.done;
            sink(progress, RunChanged{cell.info});
        }
    }
}

}  // namespace relascope::core
