// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "answers/answer_text.h"
#include "answers/runs_answer.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/plain_output.h"
#include "checkpoint/series.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "views/curve_look.h"
#include "views/look.h"

namespace relascope::cli {
namespace {

int curves(const Asked& a, const Call& call) {
    if (!a.out.empty()) {
        endingOf(a.out, {".csv"});
        requireDrawing("curves.svg");  // the table is made there, too
    }
    wire::CurvesFigure figure{{}, core::lookOf(a.question, core::curveLookFields())};
    std::vector<core::CurvePoint> points;
    for (const auto& subject : a.question.subjects) {
        const auto& run = subject.path;
        const auto info = core::readRunInfo(run);  // says what is no run
        core::requirePoints(run);
        figure.runs.push_back(std::filesystem::absolute(run).lexically_normal().string());
        for (auto& point : core::readMetrics(run))
            if (point.split == Split::Validation) points.push_back({info.name, std::move(point)});
    }
    if (!a.out.empty()) {
        draw(a.out, figure, call.paper);
        std::cerr << "wrote " << plainName(a.out) << "\n";
    }
    const Answer answer{{core::curvesTable(points)}};
    if (call.json)
        std::cout << core::jsonOf(answer).dump(2) << "\n";
    else if (a.out.empty())
        std::cout << core::plainText(answer);
    return 0;
}

}  // namespace

Command curvesCommand() {
    return questionCommand("curves", ".png, .svg, .pdf or .csv", curves);
}

}  // namespace relascope::cli
