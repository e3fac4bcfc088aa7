// SPDX-License-Identifier: GPL-3.0-or-later
#include "question/question_words.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "files/command_line.h"
#include "question/question_fields.h"
#include "types/field_text.h"

namespace relascope::core {
namespace {

// Commands whose words differ from those of all others.
constexpr const char* kInspect = "inspect";
constexpr const char* kStudy = kStudyView;

std::string subjectWord(const Model& subject) {
    return subject.hub.empty() ? placeWord(subject.path) : "hub:" + subject.hub;
}

std::string hexadecimal(unsigned char byte) {
    static constexpr char kDigits[] = "0123456789abcdef";
    return {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
}

std::string pythonText(const std::string& text) {
    std::string literal = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            literal += std::string("\\") + c;
        else if (byte < 0x20 || byte == 0x7f)
            literal += c == '\n' ? "\\n" : c == '\t' ? "\\t" : hexadecimal(byte);
        else
            literal += c;
    }
    return literal + "\"";
}

template <class List, class Text>
std::string pythonList(const List& list, Text text) {
    std::string all = "[";
    for (const auto& one : list) all += (all.size() > 1 ? ", " : "") + text(one);
    return all + "]";
}

std::string pythonValue(const FieldValue& value) {
    if (const auto* on = std::get_if<bool>(&value)) return *on ? "True" : "False";
    if (const auto* text = std::get_if<std::string>(&value)) return pythonText(*text);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
        return pythonList(*texts, pythonText);
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value))
        return pythonList(*numbers, [](std::int64_t number) { return std::to_string(number); });
    return fieldValueText(value);
}

/// The named options of a view, each behind a comma.
std::string pythonOptions(const View& view, bool inputAlone) {
    static const std::set<std::string> input = {"sample",    "split",     "data",   "image",
                                                "text",      "tokenizer", "tokens", "target",
                                                "reference", "random"};
    std::string line;
    for (const auto& option : view.options)
        if (!inputAlone || input.contains(option.name))
            line += ", " + option.name + "=" + pythonValue(option.value);
    return line;
}

std::string textOf(const View& view, const char* name) {
    const auto* value = view.option(name);
    const auto* given = value ? std::get_if<std::string>(value) : nullptr;
    return given ? *given : std::string();
}

/// The kind of the map of a view; a product is made of its relation.
std::string storedKind(const View& view) {
    const auto kind = textOf(view, "kind");
    return kind.empty() || kind == "attention-x-relation" ? "relation" : kind;
}

/// How a model of images is read, each behind a comma.
std::string pythonImages(const Model& model, const std::string& command, const std::string& of) {
    std::string line;
    if (!model.head.empty()) line += ", " + of + headOption(command) + "=" + pythonText(model.head);
    if (!model.imageSize.empty()) line += ", " + of + "image_size=" + pythonText(model.imageSize);
    return line;
}

/// The map that a view of the inspector shows. Python counts layers and maps from 0.
std::string pythonMap(const View& view) {
    const auto& subject = view.subjects.at(0);
    const auto number = [&](const char* name) {
        const auto* value = view.option(name);
        const auto* given = value ? std::get_if<std::int64_t>(value) : nullptr;
        return std::to_string((given ? *given : 1) - 1);
    };
    const auto which =
        "(" + pythonText(storedKind(view)) + ", " + number("layer") + ", " + number("index") + ")";
    auto options = pythonOptions(view, true);
    if (!subject.checkpoint.empty()) options += ", step=" + subject.checkpoint;
    options += pythonImages(subject, view.command, "");
    const auto place = pythonText(subjectWord(subject)),
               edits = pythonList(subject.edits, pythonText);
    const auto shown = textOf(view, "show");
    if (shown == "difference" && !subject.edits.empty())
        return "relascope.edit(" + place + ", " + edits + options + ").difference" + which;
    if (!subject.edits.empty() && shown != "before") options += ", edit=" + edits;
    return "relascope.maps(" + place + options + ").find" + which;
}

}  // namespace

std::string outOption(const View& view) {
    return view.printed ? "" : view.command == kStudy ? "--figure" : "--out";
}

std::vector<std::string> wordsOf(const Question& question) {
    std::vector<std::string> words = {question.command};
    for (const auto& subject : question.subjects)
        if (!subject.path.empty() || !subject.hub.empty()) words.push_back(subjectWord(subject));
    for (std::size_t k = 0; k < question.subjects.size(); ++k) {
        const auto& subject = question.subjects[k];
        const std::string of = k == 0 ? "--" : "--other-";
        if (!subject.checkpoint.empty())
            addWords(words, of + (question.command == kInspect ? "step" : "checkpoint"),
                     subject.checkpoint);
        for (const auto& edit : subject.edits) addWords(words, of + "edit", edit);
        if (k == 0 && !subject.device.empty()) addWords(words, "--device", subject.device);
        if (!subject.head.empty()) addWords(words, of + headOption(question.command), subject.head);
        if (!subject.imageSize.empty()) addWords(words, of + "image-size", subject.imageSize);
    }
    // Without it the command trains what the study lacks.
    if (question.command == kStudy) words.emplace_back("--show");
    for (const auto& option : question.options) addField(words, option.name, option.value);
    return words;
}

std::vector<std::string> wordsOf(const View& view) {
    auto words = wordsOf(static_cast<const Question&>(view));
    if (view.printed) return words;
    if (view.command == kStudy)
        words.insert(std::find(words.begin(), words.end(), "--show") + 1, "--quiet");
    if (view.dpi > 0) addWords(words, "--dpi", std::to_string(view.dpi));
    if (view.paper) words.emplace_back("--paper");
    if (view.dark) words.emplace_back("--dark");
    return words;
}

std::string commandOf(const View& view, const std::string& out) {
    auto words = wordsOf(view);
    if (!out.empty() && !view.printed) addWords(words, outOption(view), out);
    return commandLine(words);
}

std::string pythonOf(const View& view) {
    if (view.subjects.empty()) return {};
    const bool map = view.command == kInspect;
    if (map && view.subjects.size() == 1) return "relascope.map(" + pythonMap(view) + ")";
    const auto place = [](const Model& subject) { return pythonText(subjectWord(subject)); };
    if (view.command == kCurvesView)
        return "[relascope.read(run).metrics(\"validation\") for run in " +
               pythonList(view.subjects, place) + "]";
    // A table, a text or data are no analysis of their first subject.
    const bool command = view.printed && view.command != kStudy;
    std::string line =
        command ? "relascope.command(" + pythonText(view.command)
                : "relascope.analyse(" + place(view.subjects[0]) + ", " + pythonText(view.command);
    for (std::size_t k = command ? 0 : 1; k < view.subjects.size(); ++k)
        line += ", " + place(view.subjects[k]);
    // The numbers of a study's table, however its plot is looked at.
    if (view.command == kStudy) line += ", show=True";
    for (std::size_t k = 0; k < view.subjects.size(); ++k) {
        const auto& subject = view.subjects[k];
        const std::string of = k == 0 ? "" : "other_";
        if (!subject.checkpoint.empty())
            line += ", " + of + (map ? "step=" : "checkpoint=") + pythonText(subject.checkpoint);
        if (!subject.edits.empty())
            line += ", " + of + "edit=" + pythonList(subject.edits, pythonText);
        line += pythonImages(subject, view.command, of);
    }
    if (!map) return line + pythonOptions(view, false) + ")";
    // How a picture is looked at changes no numbers.
    line += ", kind=" + pythonText(storedKind(view));
    for (const char* name : {"layer", "index", "show"})
        if (const auto* value = view.option(name))
            line += std::string(", ") + name + "=" + pythonValue(*value);
    return line + pythonOptions(view, true) + ")";
}

}  // namespace relascope::core
