// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/field_text.h"

#include <nlohmann/json.hpp>

#include "model/architecture.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

const std::string kModel = "model.", kArchitecture = "model.architecture";

}  // namespace

void setOption(RunOptions& options, const std::string& key, const std::string& text,
               OtherArchitectures others) {
    if (key == "train.early_stopping" && !text.empty() && text.front() == '{') {
        const auto object = nlohmann::json::parse(text, nullptr, false);
        if (!object.is_object()) throw OptionError(key, "is not a JSON object");
        for (const auto& [name, value] : object.items())
            setOption(options, key + "." + name,
                      value.is_string() ? value.get<std::string>() : value.dump());
        return;
    }
    const auto& field = RunOptions::field(key);
    const auto value = parseFieldValue(key, field.spec, text);
    if (key.starts_with(kModel) && key != kArchitecture &&
        !options.model.has(key.substr(kModel.size()))) {
        if (others == OtherArchitectures::Ignore) return;
        throw OptionError(key, "is not an option of " + options.model.architecture());
    }
    field.set(options, value);
}

void setOptions(RunOptions& options, const std::vector<std::pair<std::string, std::string>>& values,
                OtherArchitectures others) {
    for (const bool architecture : {true, false})
        for (const auto& [key, text] : values)
            if ((key == kArchitecture) == architecture) setOption(options, key, text, others);
}

std::vector<std::pair<std::string, std::string>> optionTexts(const RunOptions& options) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const auto& field : RunOptions::fieldTable())
        if (field.applies(options))
            texts.emplace_back(field.spec.name, fieldValueText(field.get(options)));
    return texts;
}

std::string modelText(const ModelOptions& m) {
    return m.info().text(m);
}

}  // namespace relascope::core
