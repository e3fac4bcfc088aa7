// SPDX-License-Identifier: GPL-3.0-or-later
// Studies: one experiment over models, training sizes, seeds and options, as a folder of runs that
// any number of processes fill together. No torch here.
//
// STUDY/study.json         the plan, written once
// STUDY/runs/CELL/         a plain run folder for each cell
// STUDY/claims/CELL.lock   held (flock) by the process that works on the cell
//
// A claim ends with its process, however that ends; on shared folders of several machines it needs
// a file system on which flock holds between them (NFS since Linux 2.6.12, not Lustre's
// localflock).
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "train/execute_run.h"
#include "types/study.h"
#include "types/train_event.h"

namespace relascope::core {

/// Every cell of a plan, waiting: models, then axes, then sizes, then seeds. Throws OptionError for
/// a preset, model, key or value that is none, naming the nearest.
std::vector<StudyCell> studyCells(const StudyPlan& plan);
/// The options of one cell's run.
RunOptions cellOptions(const StudyPlan& plan, const StudyCell& cell);

/// Makes the folder of a study, or opens one of the same plan. Throws FileError when it holds a
/// study of another plan, preset or format, saying what differs, or something else.
void createStudy(const std::string& path, const StudyPlan& plan);
bool isStudyFolder(const std::string& path);
/// The plan and where every cell stands, from the folder alone. Throws FileError.
StudyInfo readStudy(const std::string& path);
/// Studies in a folder and its subfolders one deep, newest first; those that cannot be read are
/// left out.
std::vector<std::string> listStudies(const std::string& folder);

struct StudyWork {
    int shard = 1, shards = 1;  ///< only every shards-th cell, from the shard-th on
    bool retry = false;         ///< failed cells once more, from the start
    std::string device = "auto";
};

/// What a worker tells about the cell it is at.
struct StudyProgress {
    StudyCell cell;
    std::size_t done = 0, total = 0;  ///< of the cells of this worker
};

using StudySink = std::function<void(const StudyProgress&, const TrainEvent&)>;

/// Works on cells that nobody else does until all of its cells are done or failed: trains those
/// that wait, goes on with those that were interrupted. A cell that fails is left as it is and the
/// next one begun. Cells are taken smallest training size first. Throws FileError when the folder
/// cannot be written, Cancelled after the present cell has saved its state.
void workOnStudy(const std::string& path, const StudyWork& work, const DataOpener& open,
                 const StudySink& sink, std::stop_token stop);

/// A Slurm job array, one task a shard, that works on the study with `program`.
std::string slurmScript(const std::string& path, int tasks, const std::string& program);

}  // namespace relascope::core
