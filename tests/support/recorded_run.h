// SPDX-License-Identifier: GPL-3.0-or-later
// A run folder as another program records it (formats.md section 9), made of a run of ours.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "files/atomic_file.h"

namespace relascope::testing_support {

/// Copies the points, captures and weights along training of the run `from` to the new folder `to`,
/// with a run.json that says nothing of its model that this program knows.
inline void recordRun(const std::string& from, const std::string& to) {
    namespace fs = std::filesystem;
    using Json = nlohmann::ordered_json;
    fs::create_directories(to);
    for (const char* name : {"metrics.jsonl", "events.jsonl", "captures", "weights"})
        if (fs::exists(from + "/" + name))
            fs::copy(from + "/" + name, to + "/" + name, fs::copy_options::recursive);
    Json run = Json::parse(core::readTextFile(from + "/run.json", 1 << 24));
    run["preset"] = "", run["variant"] = "mine", run["model"] = "ViT of 2 layers";
    run["facts"] = {{"writer", "relascope (Python)"}, {"version", "0.8.0"}};
    const Json settings = {{"name", "mine"}, {"depth", 2}, {"adam", {{"lr", 0.001}}}};
    run["options"] = {{"preset", ""},
                      {"variant", "mine"},
                      {"model", {{"architecture", "recorded"}, {"settings", settings}}},
                      {"data", {{"kind", "recorded"}, {"settings", {{"name", "own images"}}}}},
                      {"train", Json::object()}};
    core::writeTextFile(to + "/run.json", run.dump());
}

}  // namespace relascope::testing_support
