// SPDX-License-Identifier: GPL-3.0-or-later
#include "question/question_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "options/options_json.h"
#include "question/question_fields.h"
#include "types/error.h"
#include "types/field_text.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

using SchemaJson = nlohmann::ordered_json;

/// A member that says which model is asked; with neither text nor texts it lists all of them.
struct ModelMember {
    std::string name, help;
    std::size_t subject;
    std::string Model::*text = nullptr;
    std::vector<std::string> Model::*texts = nullptr;
};

/// What says of the models which they are and how they are changed, by command.
std::vector<ModelMember> modelMembers(const std::string& command) {
    const auto asked = modelsAsked(command);
    const auto& step = asked.checkpoint;
    const char* stepHelp = step == "step" ? "of a run: a captured or kept step, last or best"
                                          : "of a run: last, best, or a step";
    const bool ofHub = asked.of == AskedOf::Weights;
    std::vector<ModelMember> all = {
        {asked.name, asked.help + (ofHub ? ", or hub:ORG/NAME[@REVISION]" : ""), 0}};
    if (asked.most <= 2) all.front().text = &Model::path;
    if (!step.empty()) all.push_back({step, stepHelp, 0, &Model::checkpoint});
    if (asked.changed)
        all.push_back({"edits",
                       "changes of the forward pass in words, as \"layer 2 relation 3 zero\"", 0,
                       nullptr, &Model::edits});
    if (asked.placed) all.push_back({"device", "auto, cpu or cuda:0", 0, &Model::device});
    const auto addImages = [&](std::size_t subject, const std::string& of) {
        if (!asked.changed) return;
        all.push_back({of + headOption(command), kHeadHelp, subject, &Model::head});
        all.push_back({of + "image_size", kImageSizeHelp, subject, &Model::imageSize});
    };
    addImages(0, "");
    if (asked.most != 2) return all;
    all.push_back({"other", "the second model, as path", 1, &Model::path});
    all.push_back({"other_" + step, stepHelp, 1, &Model::checkpoint});
    all.push_back({"other_edits", "changes of the second model", 1, nullptr, &Model::edits});
    addImages(1, "other_");
    return all;
}

std::string textOf(const std::string& name, const SchemaJson& value) {
    if (!value.is_string()) throw OptionError(name, "is no text");
    return value.get<std::string>();
}

}  // namespace

SchemaJson schemaOf(const FieldSpec& spec) {
    SchemaJson json = SchemaJson::object();
    const auto bounds = [&](SchemaJson& number) {
        if (std::isfinite(spec.minimum)) number["minimum"] = spec.minimum;
        if (std::isfinite(spec.maximum)) number["maximum"] = spec.maximum;
    };
    const auto ofNumber = [&](SchemaJson& number, const char* type) {
        number["type"] = type;
        bounds(number);
    };
    switch (spec.kind) {
        case FieldKind::Boolean:
            json["type"] = "boolean";
            break;
        case FieldKind::Integer:
            ofNumber(json, "integer");
            break;
        case FieldKind::Real:
            ofNumber(json, "number");
            break;
        case FieldKind::IntegerList:
            json["type"] = "array";
            ofNumber(json["items"], "integer");
            break;
        case FieldKind::TextList:
            json["type"] = "array";
            json["items"]["type"] = "string";
            if (!spec.choices.empty() && !spec.openChoices) json["items"]["enum"] = spec.choices;
            break;
        default:
            json["type"] = "string";
            if (spec.kind == FieldKind::Choice) json["enum"] = spec.choices;
    }
    json["description"] = spec.help;
    return json;
}

SchemaJson schemaOf(const std::string& command) {
    SchemaJson members = SchemaJson::object();
    for (const auto& member : modelMembers(command)) {
        members[member.name] = member.text
                                   ? SchemaJson{{"type", "string"}}
                                   : SchemaJson{{"type", "array"}, {"items", {{"type", "string"}}}};
        members[member.name]["description"] = member.help;
    }
    for (const auto& spec : questionFields(command)) members[spec.name] = schemaOf(spec);
    return {{"type", "object"},
            {"properties", std::move(members)},
            {"required", SchemaJson::array({modelsAsked(command).name})},
            {"additionalProperties", false}};
}

SchemaJson jsonOf(const Question& question) {
    SchemaJson json = SchemaJson::object();
    for (const auto& member : modelMembers(question.command)) {
        if (member.subject >= question.subjects.size()) continue;
        const auto& model = question.subjects[member.subject];
        if (!member.text && !member.texts)
            for (const auto& one : question.subjects) json[member.name].push_back(one.path);
        else if (member.texts && !(model.*member.texts).empty())
            json[member.name] = model.*member.texts;
        else if (member.text && !(model.*member.text).empty())
            json[member.name] = model.*member.text;
    }
    for (const auto& option : question.options) json[option.name] = fieldValueToJson(option.value);
    return json;
}

Question questionOf(const std::string& command, const SchemaJson& members) {
    if (!members.is_object()) throw OptionError("arguments", "is no JSON object");
    const auto specs = questionFields(command);
    const auto models = modelMembers(command);
    Question asked{currentName(command), {Model()}, {}};
    std::vector<std::string> known;
    for (const auto& member : models) {
        known.push_back(member.name);
        const auto at = members.find(member.name);
        if (at == members.end()) continue;
        asked.subjects.resize(std::max(asked.subjects.size(), member.subject + 1));
        if (member.text) {
            asked.subjects[member.subject].*member.text = textOf(member.name, *at);
            continue;
        }
        if (!at->is_array()) throw OptionError(member.name, "is no list of texts");
        std::vector<std::string> texts;
        for (const auto& one : *at) texts.push_back(textOf(member.name, one));
        if (member.texts) {
            asked.subjects[member.subject].*member.texts = std::move(texts);
            continue;
        }
        asked.subjects.resize(std::max<std::size_t>(texts.size(), 1));
        for (std::size_t k = 0; k < texts.size(); ++k) asked.subjects[k].path = texts[k];
    }
    for (const auto& spec : specs) {
        known.push_back(spec.name);
        const auto at = members.find(spec.name);
        if (at == members.end()) continue;
        const auto value = fieldValueFromJson(spec.name, spec, *at);
        checkFieldValue(spec.name, spec, value);
        asked.set(spec.name, value);
    }
    for (const auto& [name, value] : members.items())
        if (std::find(known.begin(), known.end(), name) == known.end() &&
            !isFormerOption(command, name))
            throw OptionError(name, unknownName("option", name, known));
    if (asked.subjects[0].path.empty()) throw OptionError(models[0].name, "is missing");
    return asked;
}

}  // namespace relascope::core
