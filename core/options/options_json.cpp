// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/options_json.h"

#include <nlohmann/json.hpp>

#include "model/recorded/recorded_options.h"
#include "options/field_text.h"

namespace relascope::core {

using Json = nlohmann::ordered_json;

Json fieldValueToJson(const FieldValue& value) {
    return std::visit([](const auto& v) { return Json(v); }, value);
}

FieldValue fieldValueFromJson(const std::string& key, const FieldSpec& spec, const Json& json) {
    FieldValue value;
    const auto expect = [&](bool ok, const char* what) {
        if (!ok)
            throw OptionError(key,
                              std::string("needs ") + what + ", not " + json.dump().substr(0, 60));
    };
    switch (spec.kind) {
        case FieldKind::Boolean:
            expect(json.is_boolean(), "true or false");
            value = json.get<bool>();
            break;
        case FieldKind::Integer:
            expect(json.is_number_integer(), "an integer");
            value = json.get<std::int64_t>();
            break;
        case FieldKind::Real:
            expect(json.is_number(), "a number");
            value = json.get<double>();
            break;
        case FieldKind::Choice:
        case FieldKind::Text:
            expect(json.is_string(), "a string");
            value = json.get<std::string>();
            break;
        case FieldKind::IntegerList: {
            expect(json.is_array(), "a list of integers");
            std::vector<std::int64_t> list;
            for (const auto& item : json) {
                expect(item.is_number_integer(), "a list of integers");
                list.push_back(item.get<std::int64_t>());
            }
            value = list;
            break;
        }
        case FieldKind::TextList: {
            expect(json.is_array(), "a list of strings");
            std::vector<std::string> list;
            for (const auto& item : json) {
                expect(item.is_string(), "a list of strings");
                list.push_back(item.get<std::string>());
            }
            value = list;
            break;
        }
    }
    FieldSpec lenient = spec;
    lenient.aboveMinimum = false;  // runs of earlier versions may hold a learning rate of 0
    checkFieldValue(key, lenient, value);
    return value;
}

namespace {

const std::string kArchitectureKey = "model.architecture";
// Stored up to version 0.5, and never read.
const std::string kRetired = "model.decoder.rope";
const std::string kDataSettings = "data.settings";

void readGroup(RunOptions& options, const std::string& prefix, const Json& object) {
    if (!object.is_object()) throw OptionError(prefix, "is not a JSON object");
    for (const auto& [name, value] : object.items()) {
        const std::string key = prefix + "." + name;
        // What another program says of data that it does not give is for people.
        if (key == kArchitectureKey || key == kRetired || key == kDataSettings) continue;
        if (value.is_object()) {
            readGroup(options, key, value);
            continue;
        }
        const auto& field = RunOptions::field(key);
        field.set(options, fieldValueFromJson(key, field.spec, value));
    }
}

}  // namespace

std::string runOptionsToJson(const RunOptions& options) {
    Json json = {{"preset", options.preset}, {"variant", options.variant}};
    for (const auto& field : RunOptions::fieldTable()) {
        if (!field.present(options)) continue;
        std::string pointer = "/" + field.spec.name;
        for (auto& c : pointer)
            if (c == '.') c = '/';
        json[Json::json_pointer(pointer)] = fieldValueToJson(field.get(options));
    }
    return json.dump(2);
}

namespace {

/// The options of a run that another program recorded. What it says of its model and data is kept
/// as it is, and not read.
RunOptions recordedRunOptions(const Json& json) {
    RunOptions options;
    RunOptions::field(kArchitectureKey).set(options, std::string(kRecorded));
    auto* recorded = options.model.find<RecordedOptions>();
    const auto settings = [&](const char* group) {
        const auto said = json.value(group, Json::object());
        return said.is_object() ? said.value("settings", said).dump() : std::string("{}");
    };
    recorded->model = settings("model"), recorded->data = settings("data");
    options.data.kind = kRecorded;
    options.data.task.clear();
    if (json.contains("variant") && json["variant"].is_string())
        options.variant = json["variant"].get<std::string>();
    return options;
}

RunOptions knownRunOptions(const Json& json) {
    RunOptions options;
    // The architecture determines the other fields.
    if (const auto at = Json::json_pointer("/model/architecture"); json.contains(at)) {
        const auto& field = RunOptions::field(kArchitectureKey);
        field.set(options, fieldValueFromJson(kArchitectureKey, field.spec, json[at]));
    }
    if (options.model.find<RecordedOptions>()) return recordedRunOptions(json);
    for (const auto& [key, value] : json.items()) {
        if (key == "preset" && value.is_string())
            options.preset = value.get<std::string>();
        else if (key == "variant" && value.is_string())
            options.variant = value.get<std::string>();
        else if (key == "model" || key == "train" || key == "data")
            readGroup(options, key, value);
        else
            throw OptionError(key, "is not an option");
    }
    return options;
}

}  // namespace

RunOptions runOptionsFromJson(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) throw Error("the options are not a JSON object");
    try {
        return knownRunOptions(json);
    } catch (const OptionError&) {
        // Other programs name models that are none of ours, or give ours further settings.
        const auto kind = Json::json_pointer("/data/kind");
        if (!json.contains(kind) || json[kind] != kRecorded) throw;
        return recordedRunOptions(json);
    }
}

}  // namespace relascope::core
