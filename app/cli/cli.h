// SPDX-License-Identifier: GPL-3.0-or-later
// The command line, which both programs have.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/relation_map.h"
#include "types/study.h"

namespace relascope::cli {

/// Exit codes: 0 done, 1 failed, 2 bad use, 130 interrupted (after saving).
constexpr int kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

/// One map of a probe, as the paper's figure.
struct MapFigure {
    ProbeResult result;
    MapKind kind = MapKind::Relation;
    int layer = 0, index = 0, source = 0;
    std::string run;  ///< the name of the run or checkpoint, in the caption
    std::string out;
};
/// A study's sample-efficiency curves.
struct StudyFigure {
    StudyInfo study;
    std::string title, metric;  ///< "sort-argsort, test", "sequence_accuracy"
    std::vector<StudyPoint> points;
    std::vector<PublishedPoint> published;
    std::string out;
};
/// The result of an analysis.
struct AnalysisFigure {
    const core::Analysis* analysis = nullptr;
    core::AnalysisResult result;
    std::string caption, out;
};

/// Functions that draw to the file `out`; false and a reason when that fails. Without them this is
/// left to the program `relascope`.
struct Renderers {
    template <class Figure>
    using Draw = std::function<bool(const Figure&, std::string* error)>;
    Draw<MapFigure> map;
    Draw<StudyFigure> study;
    Draw<AnalysisFigure> analysis;
};

/// Whether a file is drawn, by its ending: .png, .svg or .pdf.
bool isPicture(const std::string& path);

/// "relascope-cli train": the program with its command, for the report of a crash. Other words of
/// the command line are not in it.
std::string programName(const std::string& program, int argc, char** argv);
/// Prints what --version prints, and returns the exit code; `qt` as of buildFacts().
int printVersion(int argc, char** argv, const std::string& qt = {});

/// Runs a command line; the results go to stdout, everything else to stderr. Without renderers,
/// pictures are drawn by the program `relascope`.
int runCommandLine(int argc, char** argv, const Renderers& renderers = {});

/// Whether the word names a command: "train", "inspect".
bool isCommand(const std::string& word);

/// A stop token that SIGINT and SIGTERM trigger; a second signal ends the process at once. Call
/// before any thread starts, so that they all inherit the blocked signals.
std::stop_token stopOnSignals();

}  // namespace relascope::cli
