// SPDX-License-Identifier: GPL-3.0-or-later
// Studies: one experiment over models, training sizes, seeds and options, as a folder of runs that
// any number of processes fill together. No torch here.
//
// STUDY/study.json         the plan, written once
// STUDY/runs/CELL/         a plain run folder for each cell
// STUDY/claims/CELL.lock   held (flock) by the process that works on the cell
//
// A claim ends with its process, also if that is killed. Sharing a folder between machines requires
// a file system with flock across machines (NFS since Linux 2.6.12, not Lustre's localflock).
#pragma once

#include <string>
#include <vector>

#include "types/run_options.h"
#include "types/study.h"

namespace relascope::core {

/// Every cell of a plan, waiting: models, then axes, then sizes, then seeds. Throws OptionError for
/// an unknown preset, model, key or value, naming the nearest one.
std::vector<StudyCell> studyCells(const StudyPlan& plan);
/// The options of one cell's run.
RunOptions cellOptions(const StudyPlan& plan, const StudyCell& cell);

/// The contents of study.json, and back; reading throws FileError with the given name of a file.
std::string planText(const StudyPlan& plan);
StudyPlan planFromText(const std::string& text, const std::string& file);

/// The folder of studies: $RELASCOPE_STUDIES, else "studies" next to a folder of runs.
std::string studiesFolder(const std::string& runs);
/// Creates the folder of a study, or opens one with the same plan. Throws FileError if it contains
/// something else or a study with another plan, preset or format, and says what differs.
void createStudy(const std::string& path, const StudyPlan& plan);
bool isStudyFolder(const std::string& path);
/// The plan and the state of every cell, read from the folder. Throws FileError.
StudyInfo readStudy(const std::string& path);
/// Studies in a folder and its direct subfolders, newest first; unreadable ones are left out.
std::vector<std::string> listStudies(const std::string& folder);

}  // namespace relascope::core
