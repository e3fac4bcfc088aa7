// SPDX-License-Identifier: GPL-3.0-or-later
#include "study/study.h"

#include <cstdlib>
#include <filesystem>

#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "run/run_folder.h"
#include "study/study_plan.h"

namespace relascope::core {

namespace fs = std::filesystem;

std::string runPath(const std::string& study, const StudyCell& cell) {
    return study + "/runs/" + cell.name;
}
std::string claimPath(const std::string& study, const StudyCell& cell) {
    return study + "/claims/" + cell.name + ".lock";
}

void updateState(const std::string& study, StudyCell& cell, bool claimed) {
    const std::string path = runPath(study, cell);
    if (isRunFolder(path)) {
        try {
            cell.info = readRunInfo(path);
            cell.message = cell.info.message;
            switch (cell.info.state) {
                case RunState::Done:
                    cell.state = CellState::Done;
                    return;
                case RunState::Failed:
                    cell.state = CellState::Failed;
                    return;
                case RunState::Running:
                case RunState::Paused:
                case RunState::Queued:
                    cell.state = CellState::Running;
                    return;
                case RunState::Stopped:
                case RunState::Interrupted:
                    cell.state = CellState::Interrupted;
                    break;
            }
        } catch (const Error& error) {
            cell.state = CellState::Failed;
            cell.message = error.what();
            return;
        }
    }
    if (!claimed && FileLock::isHeld(claimPath(study, cell))) cell.state = CellState::Running;
}

std::string studiesFolder(const std::string& runs) {
    if (const char* chosen = std::getenv("RELASCOPE_STUDIES"); chosen && *chosen) return chosen;
    fs::path folder = fs::absolute(runs).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    return (folder.parent_path() / "studies").string();
}

void createStudy(const std::string& path, const StudyPlan& plan) {
    studyCells(plan);  // throws for an invalid plan before anything is created
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_directory(path, error))
        throw FileError(path, "is a file, not a folder");
    if (isStudyFolder(path)) {
        const auto differences = planDifferences(readPlan(path), plan);
        if (!differences.empty())
            throw FileError(path, "contains a different study: " + differences +
                                      "; choose another folder, or resume that study as it is");
        return;
    }
    if (fs::exists(path, error) && !fs::is_empty(path, error))
        throw FileError(path, "is not empty and contains no study; choose another folder");
    requireWritable(path);
    makeDirectories(path + "/runs");
    makeDirectories(path + "/claims");
    writeTextFile(path + "/study.json", planText(plan));
}

StudyInfo readStudy(const std::string& path) {
    StudyInfo study;
    study.path = path;
    study.plan = readPlan(path);
    study.cells = studyCells(study.plan);
    for (auto& cell : study.cells) updateState(path, cell, false);
    return study;
}

}  // namespace relascope::core
