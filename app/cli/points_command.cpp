// SPDX-License-Identifier: GPL-3.0-or-later
// points: where a model can be edited.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/plain_output.h"
#include "model/architecture.h"
#include "model/public/family.h"

namespace relascope::cli {
namespace {

struct PointsArguments {
    std::string path, checkpoint;
    bool json = false;
};

int points(const PointsArguments& a, const Call&) {
    core::OpenedModel opened(a.path, a.checkpoint, "cpu");
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
    checkpointOption(command, a.path, "run or checkpoint folder");
    command.add_option("--checkpoint", a.checkpoint, "of a run: last, best, or a step");
}

}  // namespace

Command pointsCommand() {
    return commandOf("points", "lists the hook points of a model, where edits can be made",
                     pointsOptions, points, Needs::Threads);
}

}  // namespace relascope::cli
