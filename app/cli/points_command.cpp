// SPDX-License-Identifier: GPL-3.0-or-later
// points: where a model can be edited.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/plain_output.h"
#include "app/cli/question_arguments.h"
#include "model/architecture.h"
#include "model/public/family.h"
#include "question/question_fields.h"

namespace relascope::cli {
namespace {

constexpr const char* kPoints = "points";

struct PointsArguments {
    Question asked;
    bool json = false;
};

int points(const PointsArguments& a, const Call&) {
    const auto& model = a.asked.subjects.front();
    core::OpenedModel opened(model.path, model.checkpoint, "cpu");
    const auto points = opened.points(opened.randomInput(0));
    if (points.empty())
        throw OptionError("path", core::modelTitle(opened.options()) + " has no hook points");
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& point : points) {
        if (a.json) {
            list.push_back({{"name", point.name},
                            {"axes", point.axes},
                            {"shape", point.shape},
                            {"causal", point.causal}});
            continue;
        }
        std::string axes;
        for (std::size_t d = 0; d < point.axes.size(); ++d)
            axes += (d ? ", " : "") + point.axes[d] + " " + std::to_string(point.shape[d]);
        print("%-40s %s\n", point.name.c_str(), axes.c_str());
    }
    if (a.json) std::cout << list.dump(2) << "\n";
    return 0;
}

void pointsOptions(CLI::App& command, PointsArguments& a) {
    declareQuestion(command, kPoints, a.asked, nullptr);
}

}  // namespace

Command pointsCommand() {
    return commandOf(kPoints, core::summaryOf(kPoints), pointsOptions, points, Needs::Threads);
}

}  // namespace relascope::cli
