// SPDX-License-Identifier: GPL-3.0-or-later
// data: shows data (data_views.h), and writes generated data, minimal pairs and rules.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/data_views.h"
#include "app/cli/drawing.h"
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
constexpr std::int64_t kUsualRulePairs = 100;  // of each rule

/// The seed of generated data.
std::int64_t seedOf(const DataArguments& arguments) {
    return std::max<std::int64_t>(0, arguments.seed);
}

/// Writes prompts of the rules ABA and ABB as minimal pairs, or the right ones as a text.
void makeRules(const DataArguments& arguments) {
    const bool text = arguments.out.ends_with(".txt");
    if (!text && !arguments.out.ends_with(".jsonl"))
        throw OptionError("--out", "'" + arguments.out +
                                       "' must end in .jsonl, for minimal pairs, or in .txt, for a "
                                       "text of the right ones");
    if (arguments.tokenizer.empty())
        throw OptionError("--tokenizer",
                          "is missing: rules are sequences of single tokens; give gpt2, "
                          "characters, a tokenizer.json, or the folder of a model");
    const bool characters = arguments.tokenizer == "characters";
    const auto tokenizer =
        characters
            ? core::characterTokenizer("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ^\n")
            : core::openTokenizer(arguments.tokenizer);
    const core::RulePromptOptions options{arguments.examples, arguments.ruleTokens, "auto", "auto",
                                          static_cast<std::uint64_t>(seedOf(arguments))};
    const core::RulePrompts prompts(tokenizer, -1, options, 0);
    const auto pairs =
        core::rulePairs(prompts, arguments.count > 0 ? arguments.count : kUsualRulePairs, text);
    std::string lines;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        lines +=
            (text ? pairs[i].good + "\n" : core::pairLine(pairs[i], static_cast<std::int64_t>(i))) +
            "\n";
    core::writeTextFile(arguments.out, lines);
    std::cerr << "wrote " << pairs.size() << (text ? " prompts of " : " pairs of ")
              << prompts.examples() << " examples to " << plainName(arguments.out) << "\n";
}

/// Writes minimal pairs as JSON lines.
void makePairs(const DataArguments& arguments) {
    if (!arguments.out.ends_with(".jsonl"))
        throw OptionError("--out", "'" + arguments.out +
                                       "' must end in .jsonl, the format that minimal pairs are "
                                       "written in");
    RunOptions options;
    options.data = core::pairData();
    options.data.seed = seedOf(arguments);
    if (arguments.count > 0) options.data.train_size = arguments.count;
    applySettings(options, arguments.settings);
    const auto data = core::asPairs(datasets::openData(options.data).validation);
    std::string lines;
    for (std::int64_t i = 0; i < data->size(); ++i)
        lines += core::pairLine(data->pair(i), i) + "\n";
    core::writeTextFile(arguments.out, lines);
    std::cerr << "wrote " << data->size() << " pairs to " << plainName(arguments.out) << "\n";
}

/// Writes generated examples of an experiment, or draws an example of each of its tasks.
void makeExamples(const DataArguments& arguments) {
    if (!isPicture(arguments.out) && !arguments.out.ends_with(".npz"))
        throw OptionError("--out",
                          "'" + arguments.out +
                              "' must end in .npz, the format that data are written in, or in "
                              ".png, .svg or .pdf for an example of each task");
    requireDrawing(arguments.out);
    RunOptions options = core::presetOptions(arguments.place);
    applySettings(options, arguments.settings);
    if (!arguments.family.empty()) core::setOption(options, "data.family", arguments.family);
    options.data.seed = seedOf(arguments);
    options.data.train_size = arguments.count > 0 ? arguments.count : kUsualExamples;
    options.data.path.clear();
    options.check();
    if (isPicture(arguments.out)) {
        drawTasks(options, arguments.out, arguments.paper);
        std::cerr << "wrote " << plainName(arguments.out) << "\n";
        return;
    }
    const auto stop = stopOnSignals();
    const auto splits = datasets::openData(options.data);
    ProgressLine line;
    datasets::writeNpz(arguments.out, *splits.train, [&](double fraction) {
        line.show(fraction, "writing " + arguments.out);
        return !stop.stop_requested();
    });
    line.say("wrote " + std::to_string(options.data.train_size) + " examples to " + arguments.out);
}

int runData(const DataArguments& a, const Call&) {
    const bool ofSplit = a.shows() || !a.split.empty() || !a.label.empty() || !a.form.empty() ||
                         !a.data.empty() || a.epoch >= 0 || a.first > 0 || a.columns > 0;
    const bool pairs = a.place == core::pairData().kind, rules = a.place == kRulesInContext;
    if (ofSplit || (!pairs && !rules && !core::findPreset(a.place))) {
        showData(a);
        if (a.shows()) return 0;
    } else {
        if (a.out.empty())
            throw OptionError("--out",
                              "is missing: a file; or give --statistics, --sample or --grid");
        if (pairs)
            makePairs(a);
        else if (rules)
            makeRules(a);
        else
            makeExamples(a);
    }
    if (a.json) std::cout << Json({{"file", a.out}}).dump(2) << "\n";
    return 0;
}

void dataOptions(CLI::App& command, DataArguments& a) {
    command
        .add_option("place", a.place,
                    "experiment or kind of data, a run folder, a file or folder to import; or "
                    "minimal-pairs, or rules-in-context")
        ->required();
    command
        .add_option("--count", a.count,
                    "examples (1,000, of a split all); of minimal pairs those of each phenomenon "
                    "(60), of rules in context "
                    "those of each rule (100)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000000}));
    command.add_option("--seed", a.seed, "random seed")->check(CLI::NonNegativeNumber);
    command.add_option("--family", a.family, "pentos, hexos or stripes");
    command.add_option("--set", a.settings, "data.KEY=VALUE")->take_all();
    command.add_option("--tokenizer", a.tokenizer,
                       "of rules in context: gpt2, characters, a tokenizer.json, or a folder");
    command
        .add_option("--examples", a.examples,
                    "of rules in context: whole sequences before the last one (10)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}));
    command
        .add_option("--rule-tokens", a.ruleTokens,
                    "of rules in context: words, letters or any (auto)")
        ->check(CLI::IsMember({"auto", "words", "letters", "any"}));
    dataViewOptions(command, a);
    command.add_option("--out", a.out,
                       ".npz, of minimal pairs and rules .jsonl, of rules .txt; .png, .svg, .pdf "
                       "(without --statistics, --sample and --grid: an example of both answers of "
                       "every task); .csv of statistics and of an example");
}

}  // namespace

Command dataCommand() {
    return commandOf("data", "shows data, or writes them as .npz or minimal pairs as JSON lines",
                     dataOptions, runData);
}

}  // namespace relascope::cli
