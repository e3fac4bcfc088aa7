// SPDX-License-Identifier: GPL-3.0-or-later
// served: the models that other programs serve on this machine.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/plain_output.h"
#include "model/served/served_options.h"
#include "types/text_format.h"
#include "types/text_piece.h"
#include "wire/served_link.h"

namespace relascope::cli {
namespace {

struct ServedArguments {
    bool json = false;
};

int listServed(const ServedArguments& a, const Call&) {
    const auto doors = wire::servedDoors();
    if (a.json) {
        auto all = nlohmann::ordered_json::array();
        for (const auto& door : doors) {
            nlohmann::ordered_json one = {{"path", core::kServedPrefix + door.name},
                                          {"program", door.program},
                                          {"model", door.model},
                                          {"parameters", door.parameters},
                                          {"step", door.step}};
            if (door.step < 0) one["step"] = nullptr;
            if (!door.problem.empty()) one["problem"] = door.problem;
            all.push_back(std::move(one));
        }
        std::cout << all.dump(2) << "\n";
        return 0;
    }
    if (doors.empty()) {
        print(
            "No program of yours serves a model. In Python: relascope.serve(model, data); then\n"
            "relascope served:NAME, or relascope-cli ablate served:NAME\n");
        return 0;
    }
    std::size_t longest = 0;
    for (const auto& door : doors) longest = std::max(longest, door.name.size());
    for (const auto& door : doors) {
        const auto name = core::kServedPrefix + door.name;
        const auto width = static_cast<int>(longest + sizeof core::kServedPrefix + 1);
        if (!door.problem.empty()) {
            print("%-*s %s\n", width, name.c_str(), plainName(door.problem).c_str());
            continue;
        }
        const auto program = plainName(std::filesystem::path(door.program).filename().string());
        const auto step = door.step < 0 ? std::string() : ", step " + groupedNumber(door.step);
        print("%-*s %s of %s parameters, by %s%s\n", width, name.c_str(), door.model.c_str(),
              groupedNumber(door.parameters).c_str(), program.c_str(), step.c_str());
    }
    return 0;
}

}  // namespace

Command servedCommand() {
    return commandOf<ServedArguments>(
        "served", "lists the models that other programs of yours serve (relascope.serve in Python)",
        [](CLI::App&, ServedArguments&) {}, listServed);
}

}  // namespace relascope::cli
