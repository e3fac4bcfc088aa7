// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/analysis.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "answers/answer_text.h"
#include "options/field_text.h"
#include "options/options_json.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {

namespace {

/// Descriptions that are registered; analyses are registered in any order.
std::vector<Analysis (*)()>& descriptions() {
    static std::vector<Analysis (*)()> all;
    return all;
}

const std::vector<Analysis>& described() {
    static const std::vector<Analysis> all = [] {
        std::vector<Analysis> made;
        for (const auto describe : descriptions()) made.push_back(describe());
        std::ranges::sort(made, {}, &Analysis::place);
        return made;
    }();
    return all;
}

}  // namespace

RegisterAnalysis::RegisterAnalysis(Analysis (*describe)()) {
    descriptions().push_back(describe);
}

const std::vector<const Analysis*>& analyses() {
    static const std::vector<const Analysis*> all = [] {
        std::vector<const Analysis*> listed;
        for (const auto& one : described())
            if (one.place > 0) listed.push_back(&one);
        return listed;
    }();
    return all;
}

std::vector<const Analysis*> analysesOf(AnalysisPage page) {
    auto all = analyses();
    std::erase_if(all, [&](const Analysis* one) { return one->page != page; });
    return all;
}

std::string groupTitle(AnalysisGroup group) {
    return group == AnalysisGroup::Parts   ? "Parts"
           : group == AnalysisGroup::Pairs ? "Pairs"
                                           : "Text";
}
std::string groupSummary(AnalysisGroup group) {
    return group == AnalysisGroup::Parts ? "What each layer, head and relation does for the answer"
           : group == AnalysisGroup::Pairs ? "What a map tells of a pair of objects, and from what"
                                           : "What a language model knows, and where";
}

std::string currentName(const std::string& name) {
    for (const auto* one : analyses())
        if (std::ranges::find(one->formerNames, name) != one->formerNames.end()) return one->name;
    return name;
}

const Analysis* findAnalysis(const std::string& given) {
    const auto at = std::ranges::find(described(), currentName(given), &Analysis::name);
    return at == described().end() ? nullptr : &*at;
}

const Analysis& analysisNamed(const std::string& name) {
    if (const auto* found = findAnalysis(name)) return *found;
    throw Error("There is no analysis '" + name + "'.");
}

bool isFormerOption(const std::string& analysis, const std::string& option) {
    const auto* found = findAnalysis(analysis);
    return found && std::ranges::find(found->formerOptions, option) != found->formerOptions.end();
}

namespace {

const AnalysisField& fieldOf(const std::vector<AnalysisField>& fields, const std::string& name) {
    std::vector<std::string> known;
    for (const auto& field : fields) {
        if (field.spec.name == name) return field;
        known.push_back(field.spec.name);
    }
    throw OptionError(name, unknownName("option", name, known));
}

}  // namespace

void makeForms(Analysis& analysis) {
    analysis.csv = [](const Answer& answer) { return csvOf(answer); };
    analysis.latex = [](const Answer& answer) { return latexOf(answer); };
    analysis.terminal = [](const Answer& answer) { return plainText(answer); };
    analysis.json = [](const Answer& answer) { return jsonOf(answer); };
}

void checkOptions(const std::vector<AnalysisField>& fields, const OptionValues& values) {
    for (const auto& [name, value] : values) {
        const auto& field = fieldOf(fields, name);
        if (value.index() != field.initial.index())
            throw OptionError(name, "is a value of another kind");
        if (value != field.initial) checkFieldValue(name, field.spec, value);
    }
}

nlohmann::ordered_json optionsToJson(const Analysis& analysis, const OptionValues& values) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& field : analysis.fields)
        if (const auto at = values.find(field.spec.name);
            at != values.end() && at->second != field.initial)
            json[field.spec.name] = fieldValueToJson(at->second);
    return json;
}

OptionValues optionsFromJson(const Analysis& analysis, const nlohmann::ordered_json& json) {
    if (!json.is_object()) throw OptionError(analysis.name, "is not a JSON object of options");
    OptionValues values;
    for (const auto& [name, value] : json.items())
        values[name] = fieldValueFromJson(name, fieldOf(analysis.fields, name).spec, value);
    return values;
}

}  // namespace relascope::core
