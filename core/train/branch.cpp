// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/branch.h"

#include <cmath>
#include <filesystem>

#include "checkpoint/kept_weights.h"
#include "files/atomic_file.h"
#include "options/estimates.h"
#include "options/metrics.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "train/checkpoints.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

void copyFile(const std::string& from, const std::string& to) {
    std::error_code error;
    fs::create_directories(fs::path(to).parent_path(), error);
    fs::copy(from, to, fs::copy_options::recursive, error);
    if (error == std::errc::no_space_on_device)
        throw DiskFull(to, "the disk is full; free some space");
    if (error) throw FileError(to, "could not be written: " + error.message());
}

void fillBranch(RunFolder& branch, const std::string& from, std::int64_t step) {
    const std::string name = "/checkpoints/step-" + std::to_string(step);
    const auto state = checkpointState(from + name);
    const RunInfo source = readRunInfo(from);
    auto& info = branch.info();
    info.seed = source.seed;
    info.device = source.device;
    info.parameters = source.parameters;
    info.metric = shownMetric(branch.options());
    info.restoresBest = branch.options().train.early_stopping.restore_best;
    info.state = RunState::Stopped;
    info.message = "branched from " + source.name + " at step " + std::to_string(step);
    info.step = step;
    info.totalSteps = source.totalSteps;
    info.seconds = state.seconds;
    info.edits = state.edits;  // the run's interventions from this step on
    branch.setFact("branched_from", from);
    branch.setFact("branched_at", std::to_string(step));

    std::vector<MetricPoint> points;
    for (auto& point : readMetrics(from))
        if (point.step <= step) points.push_back(std::move(point));
    takeValidations(info, points, info.restoresBest ? state.bestStep : -1);
    for (const auto& point : points) {
        branch.append(point);
        info.epoch = point.epoch;
    }
    for (const auto& note : readEvents(from))
        if (note.step < step || (note.step == step && note.level == Note::Level::Sample))
            branch.append(note);
    branch.append(Note{Note::Level::Info, step, info.message});
    for (const auto captured : captureSteps(from + "/captures"))
        if (const auto file = "/captures/step-" + std::to_string(captured) + ".safetensors";
            captured <= step)
            copyFile(from + file, branch.path() + file);
    copyKept(from, branch.path(), step);
    for (const char* more : {"/tokenizer.json", "/before", "/family"})
        if (fs::exists(from + more)) copyFile(from + more, branch.path() + more);
    // The best weights so far, which early stopping may restore.
    if (const auto best = "/checkpoints/step-" + std::to_string(state.bestStep);
        state.bestStep >= 0 && state.bestStep < step && checkpointProblem(from + best).empty())
        copyFile(from + best, branch.path() + best);
    copyFile(from + name, branch.path() + name);
    std::error_code ignored;
    fs::remove(keptMark(branch.path() + name), ignored);  // nothing was edited in the new run yet
    branch.flush();
    branch.saveInfo();
}

}  // namespace

void branchRun(const std::string& from, std::int64_t step, const std::string& to) {
    const std::string checkpoint = from + "/checkpoints/step-" + std::to_string(step);
    if (const auto problem = checkpointProblem(checkpoint); !problem.empty())
        throw FileError(checkpoint, problem + "; the run cannot be branched there");
    RunOptions options = keptOptions(checkpoint);
    options.train.seeds = {readRunInfo(from).seed};
    bool made = false;
    try {
        RunFolder branch = RunFolder::create(to, options);
        made = true;
        fillBranch(branch, from, step);
    } catch (...) {
        std::error_code ignored;
        if (made) fs::remove_all(to, ignored);
        throw;
    }
}

}  // namespace relascope::core
