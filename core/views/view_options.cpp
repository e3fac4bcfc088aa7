// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/view_options.h"

#include <algorithm>
#include <initializer_list>

#include "analysis/analysis.h"
#include "types/error.h"
#include "types/suggest.h"
#include "views/curve_look.h"
#include "views/map_look.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostIndex = 1 << 30;  // of tokens, samples and objects

FieldSpec viewField(const char* name, FieldKind kind, double least = 0,
                    double most = static_cast<double>(kMostIndex)) {
    FieldSpec spec{name, "", "", kind};
    if (kind == FieldKind::Integer || kind == FieldKind::IntegerList)
        spec.minimum = least, spec.maximum = most;
    return spec;
}
FieldSpec viewChoice(const char* name, std::vector<std::string> choices,
                     FieldKind kind = FieldKind::Choice) {
    auto spec = viewField(name, kind);
    spec.choices = std::move(choices);
    return spec;
}
FieldSpec viewPath(const char* name) {
    auto spec = viewField(name, FieldKind::Text);
    spec.path = true;
    return spec;
}

using Specs = std::vector<FieldSpec>;

/// The options of every command that takes an input.
Specs inputSpecs() {
    return {viewField("sample", FieldKind::Integer),
            viewField("split", FieldKind::Text),
            viewPath("image"),
            viewField("text", FieldKind::Text),
            viewPath("tokenizer"),
            viewField("tokens", FieldKind::IntegerList),
            viewField("target", FieldKind::IntegerList),
            viewField("reference", FieldKind::Integer, 1, 100000),
            viewField("random", FieldKind::Integer, 0, 9e15)};
}

Specs inspectSpecs() {
    auto all = inputSpecs();
    const Specs own = {viewChoice("kind", {"relation", "attention-ra", "attention-sa",
                                           "attention-x-relation", "symbols"}),
                       viewField("layer", FieldKind::Integer, 1, 1000),
                       viewField("index", FieldKind::Integer, 1, 100000),
                       viewField("source", FieldKind::Integer),
                       viewField("to", FieldKind::Integer),
                       viewField("transposed", FieldKind::Boolean),
                       viewChoice("show", {"after", "before", "difference"}),
                       viewField("layers", FieldKind::IntegerList, 1, 1000),
                       viewField("words", FieldKind::TextList),
                       viewChoice("tints",
                                  {"attention", "relation", "scaled", "clip", "tanh", "sign",
                                   "sigmoid", "softmax"},
                                  FieldKind::TextList)};
    all.insert(all.end(), own.begin(), own.end());
    for (const auto& field : mapLookFields()) all.push_back(field.spec);
    return all;
}

Specs analysisSpecs(const Analysis& analysis) {
    Specs all;
    if (analysis.input == AnalysisInput::Data)
        all = {viewField("split", FieldKind::Text), viewPath("text"), viewPath("data"),
               viewPath("pairs"), viewField("fields", FieldKind::Text)};
    else if (analysis.input == AnalysisInput::Sentences)
        all = {viewPath("pairs"), viewField("fields", FieldKind::Text)};
    else if (analysis.input == AnalysisInput::Pair)
        all = {viewField("clean", FieldKind::Text),  viewField("corrupt", FieldKind::Text),
               viewField("split", FieldKind::Text),  viewPath("pairs"),
               viewField("fields", FieldKind::Text), viewField("pair", FieldKind::Integer, 1)};
    else if (analysis.input != AnalysisInput::OwnPrompts)
        all = inputSpecs();
    for (const auto& field : analysis.fields) all.push_back(field.spec);
    return all;
}

}  // namespace

const Analysis* analysisOfView(const std::string& command) {
    for (const auto* one : analyses())
        if (one->name == command) return one;
    return nullptr;
}

std::vector<FieldSpec> viewOptions(const std::string& command) {
    if (command == kInspectView) return inspectSpecs();
    if (command == kStudyView) {
        Specs all = {viewField("metric", FieldKind::Text), viewField("split", FieldKind::Text),
                     viewField("curves", FieldKind::TextList)};
        for (const auto& field : studyLookFields()) all.push_back(field.spec);
        return all;
    }
    if (command == kCurvesView) {
        Specs all;
        for (const auto& field : curveLookFields()) all.push_back(field.spec);
        return all;
    }
    if (const auto* analysis = analysisOfView(command)) return analysisSpecs(*analysis);
    std::vector<std::string> known = {kInspectView, kStudyView, kCurvesView};
    for (const auto* one : analyses()) known.push_back(one->name);
    throw OptionError("command", unknownName("view", command, known));
}

std::string unreadByWindow(const View& view) {
    const auto* analysis = analysisOfView(view.command);
    const auto textOf = [&](const char* name) {
        const auto* value = view.option(name);
        const auto* text = value ? std::get_if<std::string>(value) : nullptr;
        return text ? *text : std::string();
    };
    const auto unread = [](const std::string& name, const std::string& value) {
        return "the window does not measure with '" + name + "' (" + value.substr(0, 200) + ")";
    };
    if (!analysis) return {};
    std::vector<const char*> names;
    if (analysis->input == AnalysisInput::Data) names = {"text", "data", "pairs", "fields"};
    if (analysis->input == AnalysisInput::Sentences) names = {"fields"};
    if (analysis->input == AnalysisInput::Pair) names = {"pairs", "fields"};
    for (const auto* name : names)
        if (const auto value = textOf(name); !value.empty()) return unread(name, value);
    if (analysis->input != AnalysisInput::Pair) return {};
    const auto isOneOf = [](const std::string& word, std::initializer_list<const char*> forms) {
        return word.empty() || std::any_of(forms.begin(), forms.end(), [&](const char* form) {
                   return word.starts_with(form);
               });
    };
    if (const auto clean = textOf("clean");
        !isOneOf(clean, {"sample:", "text:", "tokens:", "image:", "reference:", "random:"}))
        return unread("clean", clean);
    if (const auto corrupt = textOf("corrupt"); !isOneOf(corrupt, {"sample:", "text:"}))
        return unread("corrupt", corrupt);
    return {};
}

const FieldSpec& viewOption(const std::vector<FieldSpec>& options, const std::string& name) {
    std::vector<std::string> known;
    for (const auto& spec : options) {
        if (spec.name == name) return spec;
        known.push_back(spec.name);
    }
    throw OptionError("options", unknownName("option", name, known));
}

}  // namespace relascope::core
