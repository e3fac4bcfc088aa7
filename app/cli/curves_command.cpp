// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/plain_output.h"
#include "app/cli/question_arguments.h"
#include "checkpoint/series.h"
#include "run/run_folder.h"
#include "views/curve_look.h"

namespace relascope::cli {
namespace {

struct CurvesArguments {
    std::vector<std::string> runs;
    CurveLook look;
    std::string out;
    bool paper = false;
};

int drawCurves(const CurvesArguments& a, const Call&) {
    endingOf(a.out, {".csv"});
    requireDrawing("curves.svg");  // the table is made there, too
    wire::CurvesFigure figure{{}, a.look};
    for (const auto& run : a.runs) {
        (void)core::readRunInfo(run);  // says what is no run
        core::requirePoints(run);
        figure.runs.push_back(std::filesystem::absolute(run).lexically_normal().string());
    }
    draw(a.out, figure, a.paper);
    std::cerr << "wrote " << plainName(a.out) << "\n";
    return 0;
}

void curvesOptions(CLI::App& command, CurvesArguments& a) {
    command.add_option("runs", a.runs, "run folders; seeds of one run are drawn together")
        ->required()
        ->transform(hubPlaceOf);
    for (const auto& field : core::curveLookFields()) declareField(command, field, a.look);
    command.add_option("--out", a.out, ".png, .svg, .pdf or .csv")->required();
}

}  // namespace

Command curvesCommand() {
    return commandOf("curves", "draws the learning curves of runs", curvesOptions, drawCurves);
}

}  // namespace relascope::cli
