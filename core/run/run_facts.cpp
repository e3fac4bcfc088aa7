// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_facts.h"

#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "types/error.h"

namespace relascope::core {

std::vector<std::pair<std::string, std::string>> readRunFacts(const std::string& path) {
    using Json = nlohmann::ordered_json;
    const std::string file = path + "/run.json";
    const Json json = Json::parse(readTextFile(file, 16u << 20), nullptr, false);
    if (!json.is_object()) throw FileError(file, "is not a JSON object");
    std::vector<std::pair<std::string, std::string>> facts;
    if (json.contains("facts") && json["facts"].is_object())
        for (const auto& [key, value] : json["facts"].items())
            if (value.is_string()) facts.emplace_back(key, value.get<std::string>());
    return facts;
}

std::string processesText(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string ranks, devices, machines;
    for (const auto& [key, value] : facts)
        if (key == "ranks")
            ranks = value;
        else if (key == "rank_devices")
            devices = value;
        else if (key == "machines")
            machines = value;
    if (ranks.empty() || ranks == "1") return {};
    return ranks + " ranks" + (devices.empty() ? "" : ": " + devices) +
           (machines.empty() ? "" : " on " + machines);
}

}  // namespace relascope::core
