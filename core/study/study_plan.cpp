// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "options/builtin_resources.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "study/study.h"
#include "study/study_plan.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

template <class T>
std::string listText(const std::vector<T>& values) {
    std::string text;
    for (const auto& value : values) {
        if (!text.empty()) text += ", ";
        if constexpr (std::is_same_v<T, std::string>)
            text += value;
        else
            text += std::to_string(value);
    }
    return text.empty() ? "none" : text;
}

std::string axesText(const std::vector<StudyAxis>& axes) {
    std::vector<std::string> texts;
    for (const auto& axis : axes) texts.push_back(axis.key + "=" + listText(axis.values));
    return listText(texts);
}

std::string settingsText(const std::vector<std::pair<std::string, std::string>>& settings) {
    std::vector<std::string> texts;
    for (const auto& [key, value] : settings) texts.push_back(key + "=" + value);
    return listText(texts);
}

// A value as part of a folder's name.
std::string plain(const std::string& value) {
    std::string text;
    for (const char c : value)
        text += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_';
    return text.substr(0, 40);
}

}  // namespace

std::string lastPart(const std::string& key) {
    return key.substr(key.rfind('.') + 1);
}

StudyPlan planFromText(const std::string& text, const std::string& file) {
    try {
        const Json j = Json::parse(text);
        const int format = j.value("format", 0);
        if (format != kFormat)
            throw FileError(file, "has format " + std::to_string(format) + ", written by version " +
                                      j.value("version", std::string("unknown")) +
                                      "; this version supports format " + std::to_string(kFormat));
        StudyPlan plan;
        plan.preset = j.at("preset");
        plan.models = j.at("models").get<std::vector<std::string>>();
        plan.sizes = j.at("sizes").get<std::vector<std::int64_t>>();
        plan.seeds = j.at("seeds").get<std::vector<std::int64_t>>();
        for (const auto& axis : j.at("vary"))
            plan.vary.push_back(
                {axis.at("key"), axis.at("values").get<std::vector<std::string>>()});
        for (const auto& setting : j.at("set"))
            plan.settings.emplace_back(setting.at(0), setting.at(1));
        plan.sameData = j.at("same_data");
        return plan;
    } catch (const nlohmann::json::exception& error) {
        throw FileError(file, std::string("is damaged: ") + error.what());
    }
}

StudyPlan readPlan(const std::string& path) {
    const std::string file = path + "/study.json";
    if (!isStudyFolder(path))
        throw FileError(path, "contains no study (no study.json); start one with `study PRESET`");
    return planFromText(readTextFile(file, 4u << 20), file);
}

std::string planText(const StudyPlan& plan) {
    Json vary = Json::array(), settings = Json::array();
    for (const auto& axis : plan.vary) vary.push_back({{"key", axis.key}, {"values", axis.values}});
    for (const auto& [key, value] : plan.settings) settings.push_back(Json::array({key, value}));
    const Json json = {{"format", kFormat},
                       {"version", builtin::version()},
                       {"preset", plan.preset},
                       {"models", plan.models},
                       {"sizes", plan.sizes},
                       {"seeds", plan.seeds},
                       {"vary", vary},
                       {"set", settings},
                       {"same_data", plan.sameData}};
    return json.dump(2) + "\n";
}

std::string planDifferences(const StudyPlan& there, const StudyPlan& wanted) {
    std::string text;
    const auto differ = [&](const char* what, const std::string& a, const std::string& b) {
        if (a == b) return;
        if (!text.empty()) text += "; ";
        text += std::string("its ") + what + " " + a + ", not " + b;
    };
    differ("preset is", there.preset, wanted.preset);
    differ("models are", listText(there.models), listText(wanted.models));
    differ("sizes are", listText(there.sizes), listText(wanted.sizes));
    differ("seeds are", listText(there.seeds), listText(wanted.seeds));
    differ("swept options are", axesText(there.vary), axesText(wanted.vary));
    // Studies of 0.7 keep paths as they were typed.
    auto kept = there.settings;
    for (auto& [key, value] : kept) value = fileSetting(key, value);
    differ("settings are", settingsText(kept), settingsText(wanted.settings));
    differ("data are", there.sameData ? "the same for all seeds" : "different for each seed",
           wanted.sameData ? "the same for all seeds" : "different for each seed");
    return text;
}

RunOptions cellOptions(const StudyPlan& plan, const StudyCell& cell) {
    RunOptions options = presetOptions(plan.preset, cell.model);
    options.train.keep_mib = 0;  // a budget for each of many runs would fill the disk
    // A setting for all models of the study; some may not have the option.
    auto settings = plan.settings;
    for (std::size_t i = 0; i < plan.vary.size(); ++i)
        settings.emplace_back(plan.vary[i].key, cell.values.at(i));
    setOptions(options, settings, OtherArchitectures::Ignore);
    if (!plan.sizes.empty()) options.data.train_size = cell.size;
    options.train.seeds = {cell.seed};
    if (!plan.sameData) options.data.seed = cell.seed;
    fitToData(options);
    options.check();
    return options;
}

std::vector<StudyCell> studyCells(const StudyPlan& plan) {
    constexpr std::size_t kMost = 100000;
    const auto need = [](bool holds, const char* field, const char* what) {
        if (!holds) throw OptionError(field, what);
    };
    need(!plan.models.empty(), "--models", "needs at least one model");
    need(!plan.seeds.empty(), "--seeds", "needs at least one seed");
    for (const auto& axis : plan.vary)
        need(!axis.values.empty(), "--vary", "needs KEY=VALUE,VALUE...");
    double count = static_cast<double>(plan.models.size() * plan.seeds.size() *
                                       std::max<std::size_t>(1, plan.sizes.size()));
    for (const auto& axis : plan.vary) count *= static_cast<double>(axis.values.size());
    need(count <= kMost, "study", "has more than 100,000 runs; use fewer values");

    // Each run would need the model of its checkpoint.
    const auto starts = [](const auto& setting) { return setting == "train.init_from"; };
    need(std::none_of(plan.settings.begin(), plan.settings.end(),
                      [&](const auto& setting) { return starts(setting.first); }) &&
             std::none_of(plan.vary.begin(), plan.vary.end(),
                          [&](const auto& axis) { return starts(axis.key); }),
         "train.init_from",
         "is not for studies, which train new models; start such runs with `train --init-from`");

    std::vector<std::vector<std::string>> choices = {{}};
    for (const auto& axis : plan.vary) {
        std::vector<std::vector<std::string>> longer;
        for (const auto& choice : choices)
            for (const auto& value : axis.values) {
                longer.push_back(choice);
                longer.back().push_back(value);
            }
        choices = std::move(longer);
    }
    std::vector<StudyCell> cells;
    for (const auto& model : plan.models)
        for (const auto& values : choices) {
            StudyCell cell;
            cell.model = model;
            cell.values = values;
            const auto own =
                cellOptions({plan.preset, plan.models, {}, {0}, plan.vary, plan.settings, true},
                            cell)
                    .data.train_size;
            const auto sizes = plan.sizes.empty() ? std::vector<std::int64_t>{own} : plan.sizes;
            for (const auto size : sizes)
                for (const auto seed : plan.seeds) {
                    cell.size = size;
                    cell.seed = seed;
                    cell.name = model;
                    for (std::size_t i = 0; i < values.size(); ++i)
                        cell.name += "-" + lastPart(plan.vary[i].key) + "=" + plain(values[i]);
                    if (!plan.sizes.empty()) cell.name += "-n" + std::to_string(size);
                    cell.name += "-s" + std::to_string(seed);
                    cells.push_back(cell);
                }
        }
    // Two values with the same name would share a run.
    std::vector<std::string> names;
    for (const auto& cell : cells) names.push_back(cell.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
        throw OptionError("study", "two of its runs would have the same name, " + *twice +
                                       "; give each model, size, seed and value only once");
    // An option that no model has would be ignored silently.
    auto keys = plan.settings;
    for (const auto& axis : plan.vary) keys.emplace_back(axis.key, axis.values.front());
    for (const auto& [key, value] : keys) {
        const auto& field = RunOptions::field(key);
        const auto has = [&](const StudyCell& cell) {
            return field.present(cellOptions(plan, cell));
        };
        if (std::none_of(cells.begin(), cells.end(), has))
            throw OptionError(key, "is not an option of any of the study's models");
    }
    // Every size is checked with the preset before anything runs.
    for (const auto& cell : cells)
        if (cell.seed == plan.seeds.front()) (void)cellOptions(plan, cell);
    return cells;
}

bool isStudyFolder(const std::string& path) {
    return fs::is_regular_file(fs::path(path) / "study.json");
}

std::vector<std::string> listStudies(const std::string& folder) {
    std::vector<std::pair<fs::file_time_type, std::string>> found;
    const auto add = [&](const fs::path& path) {
        std::error_code error;
        const auto time = fs::last_write_time(path / "study.json", error);
        if (!error) found.emplace_back(time, path.string());
    };
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (!entry.is_directory(error)) continue;
        if (isStudyFolder(entry.path().string())) {
            add(entry.path());
            continue;
        }
        for (const auto& inner : fs::directory_iterator(entry.path(), error))
            if (inner.is_directory(error) && isStudyFolder(inner.path().string()))
                add(inner.path());
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> paths;
    for (auto& [time, path] : found) paths.push_back(std::move(path));
    return paths;
}

}  // namespace relascope::core
