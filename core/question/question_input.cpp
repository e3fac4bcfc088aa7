// SPDX-License-Identifier: GPL-3.0-or-later
#include "question/question_input.h"

#include <algorithm>
#include <set>

#include "analysis/analysis.h"
#include "question/question_fields.h"
#include "types/error.h"
#include "types/field_text.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

/// Whether a question is about one input, and not measured on data.
bool readsInput(const Question& asked) {
    if (const auto* analysis = analysisOfCommand(asked.command))
        return analysis->input != AnalysisInput::Data &&
               analysis->input != AnalysisInput::Sentences &&
               analysis->input != AnalysisInput::OwnPrompts;
    return asked.command.empty() || asked.command == kInspectView;
}

/// The inputs that one option says.
const std::set<std::string>& kindsOfInput() {
    static const std::set<std::string> kinds = {"sample", "text",      "tokens",
                                                "image",  "reference", "random"};
    return kinds;
}

}  // namespace

bool hasOwnInput(const Question& asked) {
    return std::any_of(asked.options.begin(), asked.options.end(), [&](const Option& option) {
        return option.name == "data"
                   ? readsInput(asked)
                   : option.name != "sample" && kindsOfInput().contains(option.name);
    });
}

Question inputOf(const Question& asked) {
    Question input;
    const auto split = asked.text("split");
    if (const auto clean = asked.text("clean"); !clean.empty()) {
        input.options = {inputOfWord("--clean", clean)};
        if (input.option("sample") && !split.empty()) input.set("split", split);
        return input;
    }
    // The split that data are measured on is no input.
    if (analysisOfCommand(asked.command) && !readsInput(asked)) return input;
    const auto fields = inputFields();
    for (const auto& option : asked.options)
        if ((option.name != "data" || readsInput(asked)) &&
            std::any_of(fields.begin(), fields.end(),
                        [&](const auto& spec) { return spec.name == option.name; }))
            input.options.push_back(option);
    return input;
}

std::string inputWord(const Question& input) {
    std::string word;
    for (const auto& [name, value] : input.options) {
        if (name == "split" || name == "tokenizer") continue;
        if (!kindsOfInput().contains(name) || !word.empty()) return {};
        word = name + ":";
        if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
            for (std::size_t k = 0; k < numbers->size(); ++k)
                word += (k ? "," : "") + std::to_string((*numbers)[k]);
        } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
            word += std::to_string(*number);
        } else {
            word += std::get<std::string>(value);
        }
    }
    return word;
}

Option inputOfWord(const std::string& option, const std::string& word) {
    const auto colon = word.find(':');
    const auto kind = word.substr(0, colon);
    const auto rest = colon == std::string::npos ? "" : word.substr(colon + 1);
    if (rest.empty())
        throw OptionError(option,
                          "'" + word +
                              "' is no input; give sample:N, text:T, tokens:1,2, image:FILE, "
                              "reference:N or random:SEED");
    const auto& kinds = kindsOfInput();
    if (!kinds.contains(kind))
        throw OptionError(
            option, unknownName("kind of input", kind, std::vector(kinds.begin(), kinds.end())));
    const auto fields = inputFields();
    const auto& spec = fieldNamed(fields, kind);
    return {kind,
            spec.kind == FieldKind::Text ? FieldValue(rest) : parseFieldValue(option, spec, rest)};
}

}  // namespace relascope::core
