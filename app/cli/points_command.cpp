// SPDX-License-Identifier: GPL-3.0-or-later
// points: where a model can be edited.
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

int points(const Asked& a, const Call& call) {
    const auto& model = a.question.subjects.front();
    core::OpenedModel opened(model.path, model.checkpoint, "cpu");
    const auto points = opened.points(opened.randomInput(0));
    if (points.empty())
        throw OptionError("path", core::modelTitle(opened.options()) + " has no hook points");
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& point : points) {
        if (call.json) {
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
    if (call.json) std::cout << list.dump(2) << "\n";
    return 0;
}

}  // namespace

Command pointsCommand() {
    return questionCommand("points", nullptr, points, Needs::Threads);
}

}  // namespace relascope::cli
