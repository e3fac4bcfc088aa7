// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the models of runs that another program recorded.
#include <nlohmann/json.hpp>

#include "model/group_fields.h"
#include "model/recorded/recorded_options.h"

namespace relascope::core {
namespace {

const RegisterArchitecture model([] {
    using Options = RecordedOptions;
    Architecture<Options> a;
    a.name = kRecorded;
    a.title = "Recorded by another program";
    a.order = 900;
    a.fields = fields::withGroups<Options>({});
    a.problems = [](const Options&, ProblemList& list) {
        list.refuse("architecture", std::string("the run ") + kNoModel);
    };
    a.text = [](const Options&) { return std::string("recorded model"); };
    a.shapes = [](const Options&, ShapeList&) {};
    a.outline = [](const Options&, OutlineBuilder&) {};
    a.work = [](const Options&) { return WorkEstimate(); };
    a.opened = true;
    return a;
}());

using SettingsJson = nlohmann::ordered_json;

void addTexts(const std::string& key, const SettingsJson& value,
              std::vector<std::pair<std::string, std::string>>& texts) {
    if (value.is_object()) {
        for (const auto& [name, inner] : value.items()) addTexts(key + "." + name, inner, texts);
        return;
    }
    constexpr std::size_t kMostSettings = 1000, kLongest = 200;
    if (texts.size() >= kMostSettings) return;
    auto text = value.is_string()
                    ? value.get<std::string>()
                    : value.dump(-1, ' ', false, SettingsJson::error_handler_t::replace);
    if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
    texts.emplace_back(key, text);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settingTexts(const RecordedOptions& options) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const auto& [key, text] :
         {std::pair<std::string, const std::string&>{"model", options.model},
          {"data", options.data}})
        addTexts(key, SettingsJson::parse(text, nullptr, false), texts);
    return texts;
}

}  // namespace relascope::core
