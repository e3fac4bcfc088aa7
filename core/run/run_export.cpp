// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_export.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "files/atomic_file.h"
#include "run/json_values.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

// The objects of a file of lines; damaged lines and an incomplete last one are left out.
Json linesOf(const std::string& path) {
    Json all = Json::array();
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line) && !file.eof();)
        if (Json one = Json::parse(line, nullptr, false); one.is_object())
            all.push_back(std::move(one));
    return all;
}

// The shortest text that reads back as the same number.
std::string numberText(double value) {
    if (!std::isfinite(value)) return "nan";
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

std::string exportName(const std::string& run) {
    std::error_code ignored;
    auto path = fs::weakly_canonical(run, ignored);
    if (path.filename().empty()) path = path.parent_path();
    const std::string name = path.filename().string();
    return name.starts_with("seed-") ? (path.parent_path().filename() / name).string() : name;
}

std::string metricsCsv(const std::string& run) {
    const auto points = readMetrics(run);
    std::vector<std::string> names;
    for (const auto& point : points)
        for (const auto& [key, value] : point.values)
            if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
    std::string text = "split,step,epoch,examples,seconds";
    for (const auto& name : names) text += "," + csvField(name);
    text += "\n";
    for (const auto& point : points) {
        text += std::string(splitName(point.split)) + "," + std::to_string(point.step) + "," +
                numberText(point.epoch) + "," + std::to_string(point.examples) + "," +
                numberText(point.seconds);
        for (const auto& name : names) {
            text += ",";
            for (const auto& [key, value] : point.values)
                if (key == name) text += numberText(value);
        }
        text += "\n";
    }
    return text;
}

std::string runJson(const std::string& run) {
    readRunInfo(run);  // throws if it is no run of this format
    const Json json = {
        {"run", exportName(run)},
        {"info", Json::parse(readTextFile(run + "/run.json", 16u << 20), nullptr, false)},
        {"metrics", linesOf(run + "/metrics.jsonl")},
        {"events", linesOf(run + "/events.jsonl")}};
    return json.dump(1) + "\n";
}

}  // namespace relascope::core
