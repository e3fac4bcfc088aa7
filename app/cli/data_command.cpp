// SPDX-License-Identifier: GPL-3.0-or-later
// data: shows data (data_views.h), and writes generated data, minimal pairs and rules.
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/data_views.h"
#include "app/cli/drawing.h"
#include "app/cli/question_arguments.h"
#include "app/cli/run_text.h"
#include "data/minimal_pairs.h"
#include "data/rule_prompts.h"
#include "datasets/examples.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "options/field_text.h"
#include "options/pair_data.h"
#include "options/presets.h"
#include "types/data_kind.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kSearchedForAnswers = 200;  // number of examples
constexpr std::int64_t kUsualExamples = 1000;

// Draws, for every task of this kind of data, one example for each of two answers.
void drawTasks(const RunOptions& options, const std::string& out, bool paper) {
    wire::ExamplesFigure figure;
    for (const auto& task : dataKind(options.data.kind).tasks) {
        auto one = options;
        core::setOption(one, "data.task", task.name);
        one.data.train_size = kSearchedForAnswers;
        const auto data = datasets::openData(one.data).train;
        const auto& names = data->info().classNames;
        if (names.size() != 2)
            throw OptionError("--out", "pictures are of tasks with two answers, and " + task.name +
                                           " has others; .npz takes all");
        for (const std::int64_t label : {1, 0})
            for (std::int64_t k = 0; k < data->size(); ++k)
                if (auto example = datasets::exampleOf(*data, k); example.sample.label == label) {
                    example.answer = names[static_cast<std::size_t>(label)];
                    figure.examples.push_back(std::move(example));
                    break;
                }
        figure.titles.push_back(task.title);
    }
    draw(out, figure, paper);
}

constexpr const char* kRulesInContext = "rules-in-context";
constexpr std::int64_t kUsualRulePairs = 100;  // pairs of each rule
constexpr std::int64_t kUsualRuleExamples = 10;

/// What is written takes beside what is shown.
const std::vector<FieldSpec>& ruleFields() {
    static const std::vector<FieldSpec> all = [] {
        FieldSpec tokenizer{"tokenizer", "",
                            "of rules in context: gpt2, characters, a tokenizer.json, or a folder"},
            examples{"examples",
                     "",
                     "of rules in context: whole sequences before the last one (10)",
                     FieldKind::Integer,
                     1,
                     1000},
            tokens{"rule_tokens", "", "of rules in context: words, letters or any (auto)",
                   FieldKind::Choice};
        tokens.choices = {"auto", "words", "letters", "any"};
        return std::vector{tokenizer, examples, tokens};
    }();
    return all;
}

using Whole = std::int64_t;

/// Writes prompts of the rules ABA and ABB as minimal pairs, or the right ones as a text.
void makeRules(const Asked& a) {
    const bool text = a.out.ends_with(".txt");
    if (!text && !a.out.ends_with(".jsonl"))
        throw OptionError("--out", "'" + a.out +
                                       "' must end in .jsonl, for minimal pairs, or in .txt, for a "
                                       "text of the right ones");
    const auto& asked = a.question;
    const auto given = asked.text("tokenizer");
    if (given.empty())
        throw OptionError("--tokenizer",
                          "is missing: rules are sequences of single tokens; give gpt2, "
                          "characters, a tokenizer.json, or the folder of a model");
    const bool characters = given == "characters";
    const auto tokenizer =
        characters
            ? core::characterTokenizer("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ^\n")
            : core::openTokenizer(given);
    const core::RulePromptOptions options{asked.value("examples", kUsualRuleExamples),
                                          asked.value("rule_tokens", std::string("auto")), "auto",
                                          "auto",
                                          static_cast<std::uint64_t>(asked.value<Whole>("seed"))};
    const core::RulePrompts prompts(tokenizer, -1, options, 0);
    const auto pairs = core::rulePairs(prompts, asked.value("count", kUsualRulePairs), text);
    std::string lines;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        lines +=
            (text ? pairs[i].good + "\n" : core::pairLine(pairs[i], static_cast<std::int64_t>(i))) +
            "\n";
    core::writeTextFile(a.out, lines);
    std::cerr << "wrote " << pairs.size() << (text ? " prompts of " : " pairs of ")
              << prompts.examples() << " examples to " << plainName(a.out) << "\n";
}

/// Writes minimal pairs as JSON lines.
void makePairs(const Asked& a) {
    if (!a.out.ends_with(".jsonl"))
        throw OptionError("--out", "'" + a.out +
                                       "' must end in .jsonl, the format that minimal pairs are "
                                       "written in");
    RunOptions options;
    options.data = core::pairData();
    options.data.seed = a.question.value<Whole>("seed");
    options.data.train_size = a.question.value("count", Whole{options.data.train_size});
    applySettings(options, a.question);
    const auto data = core::asPairs(datasets::openData(options.data).validation);
    std::string lines;
    for (std::int64_t i = 0; i < data->size(); ++i)
        lines += core::pairLine(data->pair(i), i) + "\n";
    core::writeTextFile(a.out, lines);
    std::cerr << "wrote " << data->size() << " pairs to " << plainName(a.out) << "\n";
}

/// Writes generated examples of an experiment, or draws an example of each of its tasks.
void makeExamples(const Asked& a, bool paper) {
    if (!isPicture(a.out) && !a.out.ends_with(".npz"))
        throw OptionError("--out",
                          "'" + a.out +
                              "' must end in .npz, the format that data are written in, or in "
                              ".png, .svg or .pdf for an example of each task");
    requireDrawing(a.out);
    RunOptions options = core::presetOptions(a.question.subjects[0].path);
    applySettings(options, a.question);
    options.data.seed = a.question.value<Whole>("seed");
    options.data.train_size = a.question.value("count", kUsualExamples);
    options.data.path.clear();
    options.check();
    if (isPicture(a.out)) {
        drawTasks(options, a.out, paper);
        std::cerr << "wrote " << plainName(a.out) << "\n";
        return;
    }
    const auto stop = stopOnSignals();
    const auto splits = datasets::openData(options.data);
    ProgressLine line;
    datasets::writeNpz(a.out, *splits.train, [&](double fraction) {
        line.show(fraction, "writing " + a.out);
        return !stop.stop_requested();
    });
    line.say("wrote " + std::to_string(options.data.train_size) + " examples to " + a.out);
}

int runData(const Asked& a, const Call& call) {
    const auto& asked = a.question;
    const auto& place = asked.subjects[0].path;
    bool ofSplit = shows(asked) || asked.value<Whole>("first") > 0;
    for (const char* name : {"split", "label", "form", "data", "epoch"})
        ofSplit |= asked.option(name) != nullptr;
    const bool pairs = place == core::pairData().kind, rules = place == kRulesInContext;
    if (ofSplit || (!pairs && !rules && !core::findPreset(place))) {
        showData(a, call);
        if (shows(asked)) return 0;
    } else {
        if (a.out.empty())
            throw OptionError("--out",
                              "is missing: a file; or give --statistics, --sample or --grid");
        if (pairs)
            makePairs(a);
        else if (rules)
            makeRules(a);
        else
            makeExamples(a, call.paper);
    }
    if (call.json) std::cout << Json({{"file", a.out}}).dump(2) << "\n";
    return 0;
}

}  // namespace

Command dataCommand() {
    auto command = questionCommand(
        "data",
        ".npz, of minimal pairs and rules .jsonl, of rules .txt; .png, .svg, .pdf (without "
        "--statistics, --sample and --grid: an example of both answers of every task); .csv of "
        "statistics and of an example",
        runData, Needs::Nothing,
        [](CLI::App& app, Asked& asked) { declareFields(app, ruleFields(), asked.question); });
    command.help = "shows data, or writes them as .npz or minimal pairs as JSON lines";
    return command;
}

}  // namespace relascope::cli
