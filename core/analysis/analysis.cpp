// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/analysis.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/ablation_options.h"
#include "analysis/along_training.h"
#include "analysis/atlas.h"
#include "analysis/attribution.h"
#include "analysis/contrast.h"
#include "analysis/dictionary.h"
#include "analysis/duel.h"
#include "analysis/evaluation.h"
#include "analysis/head_measures.h"
#include "analysis/lens.h"
#include "analysis/origins.h"
#include "analysis/pair_accuracy.h"
#include "analysis/patching_options.h"
#include "analysis/phenomena.h"
#include "analysis/scan.h"
#include "analysis/shares.h"
#include "analysis/symbol_heads.h"
#include "answers/answer_text.h"
#include "options/field_text.h"
#include "options/options_json.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {

const std::vector<const Analysis*>& analyses() {
    static const std::vector<const Analysis*> all = {
        &scanAnalysis(),          &ablationAnalysis(),    &patchingAnalysis(),
        &lensAnalysis(),          &attributionAnalysis(), &sharesAnalysis(),
        &alongTrainingAnalysis(), &duelAnalysis(),        &atlasAnalysis(),
        &contrastAnalysis(),      &dictionaryAnalysis(),  &originsAnalysis(),
        &headMeasuresAnalysis(),  &pairsAnalysis(),       &phenomenaAnalysis(),
        &symbolHeadsAnalysis()};
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
    const auto name = currentName(given);
    auto all = analyses();
    for (const auto* own : {&evaluateAnalysis(), &effectAnalysis(), &verifyAnalysis()})
        all.push_back(own);
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Analysis* one) { return one->name == name; });
    return at == all.end() ? nullptr : *at;
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
