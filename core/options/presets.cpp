// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/presets.h"

#include <map>
#include <nlohmann/json.hpp>

#include "options/builtin_resources.h"
#include "options/field_text.h"
#include "options/run_settings.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

struct Definition {
    PresetInfo info;
    Json base, own;  // option key -> value
    std::vector<std::pair<std::string, Json>> models;
};

void add(std::vector<std::pair<std::string, std::string>>& values, const Json& settings) {
    for (const auto& [key, value] : settings.items())
        values.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
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
                          {},
                          {},
                          preset.value("notes", file.value("notes", Json::object()))
                              .get<std::map<std::string, std::string>>()};
                d.base = file.at("base");
                d.own = preset.value("set", Json::object());
                for (const auto& model :
                     preset.contains("models") ? preset["models"] : file.at("models")) {
                    d.info.variants.push_back(model.at("name"));
                    d.info.variantHelp.push_back(model.at("help"));
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

std::string PresetInfo::helpOf(const std::string& variant) const {
    for (std::size_t i = 0; i < variants.size(); ++i)
        if (variants[i] == variant) return variantHelp[i];
    return {};
}

const std::vector<PresetInfo>& presets() {
    static const std::vector<PresetInfo> list = [] {
        std::vector<PresetInfo> infos;
        for (const auto& d : definitions()) infos.push_back(d.info);
        return infos;
    }();
    return list;
}

const PresetInfo* findPreset(const std::string& name) {
    for (const auto& preset : presets())
        if (preset.name == name) return &preset;
    return nullptr;
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
            std::vector<std::pair<std::string, std::string>> values;
            for (const auto* part : {&d.base, &d.own, &settings}) add(values, *part);
            // A family sets options that some of its models do not have.
            setOptions(options, values, OtherArchitectures::Ignore);
            fitToData(options);
            options.check();
            return options;
        }
        throw OptionError("model", unknownName("model of " + preset, variant, d.info.variants));
    }
    throw OptionError("preset", unknownName("preset", preset, names));
}

}  // namespace relascope::core
