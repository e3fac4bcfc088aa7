// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/question_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/analysis.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "question/question_fields.h"
#include "types/field_text.h"
#include "types/text_format.h"

namespace relascope::cli {
namespace {

constexpr std::size_t kMostNamed = 8;  // choices; longer lists stand in the error message alone

std::string typeName(const FieldSpec& spec) {
    const bool named = !spec.choices.empty() && spec.choices.size() <= kMostNamed;
    switch (spec.kind) {
        case FieldKind::Integer:
        case FieldKind::IntegerList:
            return "INT";
        case FieldKind::Real:
            return "FLOAT";
        case FieldKind::TextList:
            return named ? joined(spec.choices, ",") : "TEXT";
        default:
            return named ? joined(spec.choices, "|") : "TEXT";
    }
}

/// Declares what a question is of.
void declareSubjects(CLI::App& command, const core::AskedModels& models, Question& asked,
                     const std::shared_ptr<bool>& fetches) {
    auto& path = asked.subjects[0].path;
    const auto &name = models.name, &help = models.help;
    if (models.of == core::AskedOf::Weights)
        return checkpointOption(command, path, help.c_str(), name.c_str(), fetches);
    const auto take = [&asked](const std::vector<std::string>& places) {
        asked.subjects.resize(places.size());
        for (std::size_t k = 0; k < places.size(); ++k) asked.subjects[k].path = places[k];
    };
    auto* option = models.most > 2
                       ? command.add_option_function<std::vector<std::string>>(name, take, help)
                       : command.add_option(name, path, help);
    option->required();
    if (models.of == core::AskedOf::Runs) option->transform(hubPlaceOf);
}

/// Declares which weights a model are, where they are computed and how they are changed.
void declareModel(CLI::App& command, const std::string& of, const core::AskedModels& models,
                  const std::string& checkpointHelp, const std::string& editHelp, Question& asked) {
    auto& model = asked.subjects[of.empty() ? 0 : 1];
    const auto prefix = "--" + of;
    const auto& checkpoint = models.checkpoint;
    if (checkpoint == "step")
        stepOption(command, (prefix + checkpoint).c_str(), model.checkpoint,
                   checkpointHelp.c_str());
    else if (!checkpoint.empty())
        command.add_option(prefix + checkpoint, model.checkpoint, checkpointHelp);
    if (of.empty() && models.placed)  // the first of a list that grows
        command.add_option_function<std::string>(
            "--device", [&asked](const std::string& device) { asked.subjects[0].device = device; },
            "auto, cpu, cuda:0");
    if (!models.changed) return;
    command.add_option(prefix + "edit", model.edits, editHelp)->take_all();
    command.add_option(prefix + core::headOption(asked.command) + "," + prefix + "texts",
                       model.head, core::kHeadHelp);
    command.add_option(prefix + "image-size", model.imageSize, core::kImageSizeHelp);
}

}  // namespace

std::string optionName(const std::string& field) {
    std::string name = "--" + field;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

namespace {

void declareField(CLI::App& command, const FieldSpec& spec, Question& asked) {
    const auto name = optionName(spec.name);
    const auto take = [&asked, key = spec.name](FieldValue value) {
        asked.set(key, std::move(value));
    };
    if (spec.kind == FieldKind::Boolean) {
        command.add_flag_callback(
            name, [take] { take(true); }, spec.help);
        return;
    }
    CLI::Option* option = nullptr;
    if (spec.kind == FieldKind::TextList || spec.kind == FieldKind::IntegerList) {
        const auto read = [name, spec, take](const std::vector<std::string>& texts) {
            FieldValue value = texts;
            if (spec.kind == FieldKind::IntegerList)
                value = core::parseFieldValue(name, spec, joined(texts, ","));
            else
                core::checkFieldValue(name, spec, value);
            take(value);
        };
        option = command.add_option_function<std::vector<std::string>>(name, read, spec.help);
        option->take_all();
        // Only words of a known list are separated by commas, as the text of a token may contain
        // one.
        if (spec.kind == FieldKind::IntegerList || !spec.choices.empty()) option->delimiter(',');
    } else {
        const auto read = [name, spec, take](const std::string& text) {
            FieldValue value = text;  // the text of a token keeps its spaces
            if (spec.kind == FieldKind::Text)
                core::checkFieldValue(name, spec, value);
            else
                value = core::parseFieldValue(name, spec, text);
            take(value);
        };
        option = command.add_option_function<std::string>(name, read, spec.help);
    }
    option->type_name(typeName(spec));
}

}  // namespace

void declareFields(CLI::App& command, const std::vector<FieldSpec>& specs, Question& asked) {
    for (const auto& spec : specs) declareField(command, spec, asked);
}

void requireStep(const std::string& option, const std::string& text) {
    const bool number = !text.empty() && text.size() < 18 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    if (!number && text != "last" && text != "best")
        throw OptionError(option, "'" + text + "' is no step; give a number from 0, last or best");
}

CLI::Option* stepOption(CLI::App& command, const char* name, std::string& step, const char* help) {
    const auto check = [option = std::string(name)](const std::string& text) {
        requireStep(option, text);
        return std::string();
    };
    return command.add_option(name, step, help)->type_name("INT|last|best")->check(check, "");
}

StepWord stepOf(const std::string& word) {
    if (word.empty() || word == "last" || word == "best") return {-1, word};
    return {std::stoll(word), {}};  // requireStep() has checked it
}

void declareQuestion(CLI::App& command, const std::string& name, Question& asked,
                     const std::shared_ptr<bool>& fetches) {
    const auto models = core::modelsAsked(name);
    const bool analysis = name != core::kInspectView, two = models.most == 2;
    asked.command = name;
    asked.subjects.resize(two ? 2 : 1);  // options refer to them
    declareSubjects(command, models, asked, fetches);
    if (name == core::kStudyView)
        command.add_flag_callback(
            "--show", [] {}, "print the table of finished runs; run nothing");
    if (two)
        otherOption(command, asked.subjects[1].path,
                    analysis ? "B: a run or a checkpoint; without it the same as A"
                             : "another run or checkpoint, whose map of the same input is "
                               "subtracted; with --other-step or --other-edit without it the "
                               "same");
    declareFields(command, core::questionFields(name), asked);
    declareModel(command, "", models,
                 analysis ? "of a run: last, best, or a step"
                          : "a captured step of a captured sample, else the weights kept nearest "
                            "to it; last or best",
                 kEditHelp, asked);
    if (two)
        declareModel(command, "other-", models,
                     analysis ? "of a run that is B: last, best, or a step"
                              : "the same as --step, of the other model",
                     analysis ? "for B a file of edits, words as \"layer 2 relation 3 zero\", or "
                                "none; can be repeated"
                              : "the same as --edit, of the other model",
                     asked);
    // Words of a text are also given as a list.
    if (!analysis) command.get_option("--words")->delimiter(',');
}

Command questionCommand(const std::string& name, const char* out,
                        std::function<int(const Asked&, const Call&)> run, Needs needs,
                        const std::function<void(CLI::App&, Asked&)>& more) {
    Command command{name, core::summaryOf(name), {}, needs, true};
    command.paper = out && std::string(out).find(".png") != std::string::npos;
    command.declare = [name, out, run, more](CLI::App& app) -> std::function<int(const Call&)> {
        const auto asked = std::make_shared<Asked>();
        declareQuestion(app, name, asked->question, nullptr);
        if (more) more(app, *asked);
        if (out) app.add_option("--out", asked->out, out);
        return [asked, run](const Call& call) { return run(*asked, call); };
    };
    return command;
}

Question questionOf(const std::vector<std::string>& words) {
    if (words.empty()) throw OptionError("command", "is missing");
    const auto name = core::currentName(words.front());
    if (!core::isQuestion(name)) throw OptionError("command", "'" + name + "' is no question");
    CLI::App app;
    Question asked;
    declareQuestion(app, name, asked, std::make_shared<bool>(false));
    std::vector<std::string> rest(words.rbegin(), words.rend() - 1);  // CLI11 takes the last first
    try {
        app.parse(rest);
    } catch (const CLI::ParseError& error) {
        throw OptionError(name, error.what());
    }
    if (name == core::kInspectView && asked.subjects.back() == Model()) asked.subjects.pop_back();
    return asked;
}

}  // namespace relascope::cli
