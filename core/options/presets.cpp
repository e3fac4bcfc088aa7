#include "options/presets.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "options/builtin_resources.h"
#include "options/field_text.h"
#include "types/suggest.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;

struct Definition {
    PresetInfo info;
    Json base, own;  // option key -> value
    std::vector<std::pair<std::string, Json>> models;
};

void apply(RunOptions& options, const Json& settings) {
    for (const auto& [key, value] : settings.items())
        setOption(options, key, value.is_string() ? value.get<std::string>() : value.dump());
}

const std::vector<Definition>& definitions() {
    static const std::vector<Definition> all = [] {
        std::vector<Definition> list;
        for (const auto& text : builtin::presetFiles()) {
            const Json file = Json::parse(text);
            for (const auto& preset : file.at("presets")) {
                Definition d;
                d.info = {preset.at("name"),
                          file.at("family"),
                          preset.at("title"),
                          preset.at("help"),
                          {}};
                d.base = file.at("base");
                d.own = preset.value("set", Json::object());
                for (const auto& model :
                     preset.contains("models") ? preset["models"] : file.at("models")) {
                    d.info.variants.push_back(model.at("name"));
                    d.models.emplace_back(model.at("name"), model.value("set", Json::object()));
                }
                list.push_back(std::move(d));
            }
        }
        return list;
    }();
    return all;
}

}  // namespace

const std::vector<PresetInfo>& presets() {
    static const std::vector<PresetInfo> list = [] {
        std::vector<PresetInfo> infos;
        for (const auto& d : definitions()) infos.push_back(d.info);
        return infos;
    }();
    return list;
}

RunOptions presetOptions(const std::string& preset, const std::string& variant) {
    std::vector<std::string> names;
    for (const auto& d : definitions()) {
        names.push_back(d.info.name);
        if (d.info.name != preset) continue;
        for (const auto& [name, settings] : d.models) {
            if (!variant.empty() && name != variant) continue;
            RunOptions options;
            options.preset = preset;
            options.variant = name;
            apply(options, d.base);
            apply(options, d.own);
            apply(options, settings);
            options.check();
            return options;
        }
        throw OptionError("model", unknownName("model of " + preset, variant, d.info.variants));
    }
    throw OptionError("preset", unknownName("preset", preset, names));
}

std::vector<PublishedResult> publishedResults(const RunOptions& options) {
    if (options.preset.rfind("relational-games-", 0) != 0) return {};
    std::vector<PublishedResult> results;
    std::istringstream lines(builtin::publishedRelationalGames());
    std::string line;
    while (std::getline(lines, line)) {
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
        if (cells.size() != 6 || cells[0] != options.data.task || cells[2] != options.variant)
            continue;
        if (cells[3] != std::to_string(options.data.train_size)) continue;
        PublishedResult result{cells[1]};
        std::from_chars(cells[4].data(), cells[4].data() + cells[4].size(), result.accuracy);
        std::from_chars(cells[5].data(), cells[5].data() + cells[5].size(), result.standardError);
        results.push_back(result);
    }
    return results;
}

}  // namespace relascope
