// SPDX-License-Identifier: GPL-3.0-or-later
// The command line, which both programs have.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "types/relation_map.h"
#include "types/study.h"

namespace relascope::cli {

/// Exit codes: 0 done, 1 failed, 2 bad use, 130 interrupted (after saving).
constexpr int kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

/// Draws one map of a probe as the paper's figure; false and a reason when that fails.
struct FigureRequest {
    MapKind kind = MapKind::Relation;
    int layer = 0, index = 0, source = 0;
    std::string out, run;  ///< file, and the name of the run or checkpoint in the caption
};
using FigureRenderer =
    std::function<bool(const ProbeResult&, const FigureRequest&, std::string* error)>;

/// Draws a study's sample-efficiency curves; false and a reason when that fails.
struct StudyFigure {
    StudyInfo study;
    std::string title, metric;  ///< "sort-argsort, test", "sequence_accuracy"
    std::vector<StudyPoint> points;
    std::vector<PublishedPoint> published;
    std::string out;
};
using StudyRenderer = std::function<bool(const StudyFigure&, std::string* error)>;

/// Functions that draw; empty ones leave this to the program `relascope`.
struct Renderers {
    FigureRenderer map;
    StudyRenderer study;
};

/// Runs a command line; the results go to stdout, everything else to stderr. Without renderers,
/// pictures are drawn by the program `relascope`.
int runCommandLine(int argc, char** argv, const Renderers& renderers = {});

/// A stop token that SIGINT and SIGTERM trigger; a second signal ends the process at once. Call
/// before any thread starts, so that they all inherit the blocked signals.
std::stop_token stopOnSignals();

}  // namespace relascope::cli
