// SPDX-License-Identifier: GPL-3.0-or-later
// A study as a Slurm job array. No torch here.
#pragma once

#include <string>
#include <vector>

#include "types/study.h"

namespace relascope::core {

/// The resources of a job of the array. A run has a process for each GPU of each node, or one for
/// each node without GPUs.
struct SlurmJob {
    int tasks = 8;        ///< jobs at a time
    int nodes = 1;        ///< how many a run takes
    int gpusPerNode = 0;  ///< 0: none is asked for
    int ranks() const { return nodes * (gpusPerNode > 0 ? gpusPerNode : 1); }
};

/// The script of an array whose jobs work on the study with `program`. Where a run takes one
/// process, each job is a worker that trains runs until none is left; where it takes several, each
/// job trains one run of study.cells with `train`, whose processes srun starts. Throws OptionError
/// for a job without nodes or tasks, and for several processes where study.cells is empty.
std::string slurmScript(const StudyInfo& study, const SlurmJob& job, const std::string& program);

/// The arguments with which `train` has the options of a cell's run: "sort", "--model", "mlp",
/// "--seed", "0", "--set", "data.train_size=64".
std::vector<std::string> cellArguments(const StudyPlan& plan, const StudyCell& cell);

}  // namespace relascope::core
