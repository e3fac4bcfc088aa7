// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the analyses, made from their descriptions: ablate, patch, lens, attribute,
// along, heads, symbol-heads, atlas, scan, duel; and inspect --along.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/analysis.h"
#include "analysis/captured_maps.h"
#include "analysis/open_model.h"
#include "analysis/pair_accuracy.h"
#include "analysis/run_analysis.h"
#include "answers/answer_text.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/run_text.h"
#include "app/serve/kept_results.h"
#include "data/text_tokens.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "files/command_line.h"
#include "interventions/edit_words.h"
#include "model/public/family.h"
#include "model/recorded/recorded_options.h"
#include "options/field_text.h"
#include "options/pair_data.h"
#include "probe/probe_memory.h"
#include "run/run_folder.h"
#include "types/suggest.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

using core::AnalysisInput;
using Json = nlohmann::ordered_json;

struct AnalysisArguments : SampleArguments {
    std::string path, checkpoint, out, device = "auto";
    std::shared_ptr<bool> fetches = std::make_shared<bool>(false);  ///< --fetch
    std::string data;                                               ///< a file to measure on
    std::string pairs, fields;   ///< minimal pairs, and the names of their fields
    std::string clean, corrupt;  ///< the two inputs of a pair
    std::int64_t pair = 1;       ///< which of the minimal pairs are the two inputs
    std::vector<std::string> edits;
    struct {
        std::string path, checkpoint;  ///< `path` empty: that of the first model
        std::vector<std::string> edits;
    } other;  ///< the second of two models
};

/// The options given for the fields of an analysis.
struct GivenOptions {
    struct Given {
        const CLI::Option* option = nullptr;
        std::string text;
        std::vector<std::string> words;
        bool on = false;
    };
    std::map<std::string, Given> fields;
};

std::string optionName(const std::string& field) {
    std::string name = "--" + field;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

void declareField(CLI::App& command, const core::AnalysisField& field, GivenOptions::Given& given) {
    const auto& spec = field.spec;
    const std::string name = optionName(spec.name);
    if (spec.kind == FieldKind::Boolean) {
        given.option = command.add_flag(name, given.on, spec.help);
    } else if (spec.kind == FieldKind::TextList) {
        auto* option = command.add_option(name, given.words, spec.help)->take_all();
        // Only words of a known list are separated by commas, as the text of a token may contain
        // one.
        if (!spec.choices.empty()) option->delimiter(',')->type_name(joined(spec.choices, ","));
        given.option = option;
    } else {
        given.option = command.add_option(name, given.text, spec.help)
                           ->type_name(spec.kind == FieldKind::Integer  ? "INT"
                                       : spec.kind == FieldKind::Choice ? joined(spec.choices, "|")
                                                                        : "TEXT");
    }
}

core::OptionValues valuesOf(const core::Analysis& analysis, const GivenOptions& options) {
    core::OptionValues values;
    for (const auto& field : analysis.fields) {
        const auto& given = options.fields.at(field.spec.name);
        if (given.option->count() == 0) continue;
        auto& value = values[field.spec.name];
        if (field.spec.kind == FieldKind::Boolean)
            value = given.on;
        else if (field.spec.kind == FieldKind::TextList)
            value = given.words;
        else if (field.spec.kind == FieldKind::Text)  // tokens keep their spaces
            value = given.text;
        else
            value = core::parseFieldValue(optionName(field.spec.name), field.spec, given.text);
    }
    return values;
}

/// Calls `action`; in its errors the options of the core have their names on the command line.
template <class Action>
auto withOptionNames(const core::Analysis& analysis, Action&& action) {
    try {
        return action();
    } catch (const OptionError& error) {
        if (analysis.field(error.field()) || error.field() == "corrupt")
            throw OptionError(optionName(error.field()), error.message());
        throw;
    }
}

/// The input of an analysis, and its names in captions.
struct AnalysedInput {
    core::AnalysisSubject subject;
    ProbeSample points;  ///< an input of the model, for the edits
    std::string caption, sample;
    std::int64_t example = -1;  ///< `points` is that example of the split; -1: it is another input
};

/// The minimal pairs of a file, or those of the grammar, for a model that reads text.
core::DatasetPtr pairsOf(const core::OpenedModel& model, const AnalysisArguments& a,
                         const std::stop_token& stop) {
    if (model.options().input() != InputKind::Tokens)
        throw OptionError("--pairs", "is for language models; " +
                                         core::modelTitle(model.options()) + " does not read text");
    if (!model.tokenizer())
        throw OptionError("--pairs",
                          "the tokenizer of this model is unknown, so no sentence can be read");
    const auto path = a.pairs == core::pairData().kind ? std::string() : a.pairs;
    auto pairs = datasets::openData(core::pairData(path, a.fields), {}, stop).validation;
    sayNote(pairs->info());
    return pairs;
}

void readData(AnalysedInput& input, const core::Analysis& analysis, const AnalysisArguments& a,
              const std::stop_token& stop) {
    auto& model = *input.subject.model;
    if (analysis.dataOptional && !model.isRun() && a.text.empty() && a.data.empty()) {
        input.points = model.randomInput(0);
        input.caption = "weights alone";
        return;
    }
    const auto option = a.text.empty() && a.data.empty() ? "--split" : "--data";
    input.subject.where = core::optionText(option, !a.text.empty()   ? a.text
                                                   : !a.data.empty() ? a.data
                                                                     : a.split);
    const auto use = [&](const std::string& name) {
        if (input.subject.data->size() == 0) throw OptionError("--data", name + " has no examples");
        sayNote(input.subject.data->info());
        input.points = input.subject.data->sample(0);
        input.caption = name;
    };
    if (!a.pairs.empty()) {
        input.subject.pairs = pairsOf(model, a, stop);
        input.subject.data = core::textOfPairs(model, input.subject.pairs);
        input.subject.where = core::optionText("--pairs", a.pairs);
        return use(input.subject.pairs->info().name);
    }
    if (!a.text.empty()) {
        if (model.options().input() != InputKind::Tokens)
            throw OptionError("--text", "is for language models; " +
                                            core::modelTitle(model.options()) +
                                            " does not read text");
        input.subject.data = core::openEvaluationText(model, {"", a.text, "", 0}, {}, stop);
        return use(folderName(a.text));
    }
    if (!a.data.empty()) {
        input.subject.data =
            datasets::openEvaluationData(a.data, model.run().data, a.split, {}, stop);
        return use(folderName(a.data));
    }
    if (!model.isRun())
        throw OptionError("path", a.path +
                                      " is a checkpoint, which has no data of its own; give a "
                                      ".npz file with --data, or a text with --text");
    const auto splits = datasets::openData(core::runData(a.path, model.run().data), {}, stop);
    input.subject.data = splits.find(a.split);
    if (!input.subject.data)
        throw OptionError("--split", unknownName("split", a.split, splits.names()));
    use(a.split);
}

void readSentences(AnalysedInput& input, const AnalysisArguments& a, const std::stop_token& stop) {
    const auto& model = *input.subject.model;
    input.subject.data = pairsOf(model, a, stop);
    if (!a.pairs.empty()) input.subject.where = core::optionText("--pairs", a.pairs);
    input.points = core::inTokensOf(model.tokenizer().get(), input.subject.data->sample(0));
    core::shorten(input.points, model.options().tokens());
    input.caption = input.subject.data->info().name;
}

/// Of inputs that have classes without being examples of the data.
std::vector<std::string> classNamesFor(const core::OpenedModel& model, const std::string& path) {
    const auto kind = model.options().input();
    if (kind != InputKind::Images && kind != InputKind::Objects) return {};
    return classNamesOf(model, path);
}

void readTwo(AnalysedInput& input, const AnalysisArguments& a) {
    auto& model = *input.subject.model;
    input.points = inputFromWords(a.clean, "--clean", a.path, model, a.split);
    input.subject.sample = input.points;
    input.subject.second = inputFromWords(a.corrupt, "--corrupt", a.path, model, a.split);
}

/// The good sentence of a minimal pair and the wrong one.
void readMinimalPair(AnalysedInput& input, const AnalysisArguments& a,
                     const std::stop_token& stop) {
    const auto& model = *input.subject.model;
    const auto pairs = pairsOf(model, a, stop);
    const auto count = pairs->info().size;
    if (a.pair > count)
        throw OptionError("--pair", std::to_string(a.pair) + " is behind the last of " +
                                        std::to_string(count) + " pairs");
    auto [good, wrong] = core::samplesOfPair(model, pairs, a.pair - 1);
    input.points = good;
    input.subject.sample = std::move(good), input.subject.second = std::move(wrong);
}

void readPair(AnalysedInput& input, const AnalysisArguments& a, const std::stop_token& stop) {
    auto& model = *input.subject.model;
    if (!a.pairs.empty())
        readMinimalPair(input, a, stop);
    else if (a.clean.empty() || a.corrupt.empty())
        throw OptionError(a.clean.empty() ? "--clean" : "--corrupt",
                          "is missing; give it, or --pairs with minimal pairs");
    else
        readTwo(input, a);
    input.subject.classNames = classNamesFor(model, a.path);
    input.caption = "A: " + input.points.origin + ", B: " + input.subject.second->origin;
}

void readOne(AnalysedInput& input, const AnalysisArguments& a) {
    auto& model = *input.subject.model;
    auto [sample, classNames] = readSample(model, a.path, a);
    if (!hasOwnInput(a)) input.example = std::max<std::int64_t>(0, a.sample);
    if (classNames.empty()) classNames = classNamesFor(model, a.path);
    input.points = sample;
    input.subject.sample = std::move(sample);
    input.subject.classNames = std::move(classNames);
}

AnalysedInput inputOf(const core::Analysis& analysis, const AnalysisArguments& a,
                      const core::OptionValues& values, core::OpenedModel& model,
                      const std::stop_token& stop) {
    AnalysedInput input;
    input.subject.model = &model;
    input.subject.path = a.path;
    input.subject.device = a.device;
    input.subject.run = core::isRunFolder(a.path) ? a.path : core::runOfWeights(a.path);
    const bool given = a.sample >= 0 || hasOwnInput(a);
    if (analysis.input == AnalysisInput::Data)
        readData(input, analysis, a, stop);
    else if (analysis.input == AnalysisInput::Sentences)
        readSentences(input, a, stop);
    else if (analysis.input == AnalysisInput::Pair)
        readPair(input, a, stop);
    else if (analysis.input == AnalysisInput::OwnPrompts ||
             (analysis.input == AnalysisInput::OwnText && !given &&
              model.options().input() == InputKind::Tokens))
        input.points = core::runnerOf(analysis).ownText(model, values);
    else
        readOne(input, a);
    if (input.caption.empty()) input.caption = input.sample = input.points.origin;
    return input;
}

/// The model that the first is compared with, and its edits.
std::shared_ptr<const core::AnalysisSubject> otherOf(const AnalysisArguments& a,
                                                     const AnalysedInput& input,
                                                     const std::stop_token& stop) {
    struct Opened : core::AnalysisSubject {
        std::unique_ptr<core::OpenedModel> own;
    };
    const auto other = std::make_shared<Opened>();
    const auto& asked = a.other;
    other->path = asked.path.empty() ? a.path : asked.path;
    try {
        other->own =
            std::make_unique<core::OpenedModel>(other->path, asked.checkpoint, a.device, stop);
    } catch (const OptionError& error) {
        throw OptionError("other", error.what());
    }
    other->model = other->own.get();
    if (asked.edits.empty()) return other;
    // If the other model has other tokens, it reads the text of the same example.
    const auto sample = core::inTokensOf(other->model->tokenizer().get(), input.points);
    try {
        other->interventions.edits = core::editsNamed(asked.edits, other->model->points(sample),
                                                      core::EditUse::Inspect, "--other-edit");
    } catch (const OptionError& error) {
        throw OptionError("--other-edit", error.message());
    }
    // Of the data of A, on its example; pictures as B reads them.
    other->interventions.data = input.subject.interventions.data;
    other->interventions.data.image = editData(other->path, *other->model).image;
    if (core::namesNone(asked.edits)) other->model->leaveOutTrainingEdits();
    return other;
}

Json jsonOf(const core::Analysis& analysis, const Answer& result, const AnalysedInput& input) {
    Json all;
    const auto& captured = input.subject.captured;
    if (analysis.input != AnalysisInput::KeptSteps)
        all["step"] = captured ? captured->step() : input.subject.model->step();
    if (!input.sample.empty()) all["sample"] = input.sample;
    all.update(analysis.json(result));
    if (!captured) addEdits(all, *input.subject.model, input.subject.interventions.edits);
    return all;
}

/// The words of the command that computes a result again, without the options for its output.
std::vector<std::string> commandOf(const core::Analysis& analysis, const AnalysisArguments& a,
                                   const core::OptionValues& values) {
    std::vector<std::string> words = {analysis.name, core::placeWord(a.path)};
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) core::addWords(words, name, value);
    };
    add("--checkpoint", a.checkpoint);
    add("--text", a.text);
    add("--data", a.data);
    add("--pairs", a.pairs);
    add("--fields", a.fields);
    if (a.text.empty() && analysis.input != AnalysisInput::Sentences) add("--split", a.split);
    for (const auto& edit : a.edits) add("--edit", edit);
    for (auto& word : core::optionsToWords(analysis, values)) words.push_back(std::move(word));
    return words;
}

void writeReport(const core::Analysis& analysis, const Answer& result, const AnalysedInput& input,
                 const AnalysisArguments& a, const core::OptionValues& values) {
    const std::filesystem::path out(a.out);
    std::error_code failed;  // an error is reported by the writing that follows
    if (out.has_parent_path()) std::filesystem::create_directories(out.parent_path(), failed);
    const auto subject = editedCaption(a.path, *input.subject.model,
                                       input.subject.interventions.edits, input.caption);
    for (const auto& file :
         analysis.report(result, out.stem().string(), subject, commandOf(analysis, a, values)))
        core::writeTextFile((out.parent_path() / file.name).string(), file.content);
}

// Names of classes and files may be any bytes.
std::string textOf(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write(const core::Analysis& analysis, const Answer& result, const AnalysedInput& input,
           const AnalysisArguments& a, bool paper) {
    const auto& edits = input.subject.interventions.edits;
    if (isPicture(a.out)) {
        auto caption = input.subject.captured
                           ? folderName(a.path) + ", step " +
                                 std::to_string(input.subject.captured->step()) + ", " +
                                 input.caption
                           : editedCaption(a.path, *input.subject.model, edits, input.caption);
        if (analysis.input == AnalysisInput::KeptSteps) {  // the result belongs to no single step
            caption = folderName(a.path) + ", " + input.caption;
            if (edits.anyEnabled()) caption += ", edited: " + core::wordsOf(edits);
        }
        draw(a.out, wire::AnalysisFigure{analysis.name, result, caption}, paper);
    } else if (a.out.ends_with(".tex")) {
        core::writeTextFile(a.out, analysis.latex(result));
    } else if (a.out.ends_with(".json")) {
        core::writeTextFile(a.out, textOf(jsonOf(analysis, result, input)));
    } else {
        writeCsv(a.out, result);
    }
}

int runAnalysis(const core::Analysis& analysis, const AnalysisArguments& a,
                const core::OptionValues& values, const Call& call) {
    const auto stop = stopOnSignals();
    if (!a.out.empty())
        analysis.report  ? endingOf(a.out, {".html", ".csv", ".json"})
        : analysis.latex ? endingOf(a.out, {".csv", ".tex", ".json"})
                         : endingOf(a.out, {".csv", ".json"});
    requireDrawing(a.out);
    withOptionNames(analysis, [&] { core::checkOptions(analysis.fields, values); });
    std::optional<core::OpenedModel> model;
    AnalysedInput input;
    auto& subject = input.subject;
    if (auto captured = core::capturesOf(analysis, a.path, a.checkpoint)) {
        if (!a.edits.empty()) throw OptionError("--edit", a.path + " " + core::kNoModel);
        subject.path = subject.run = a.path;
        subject.data = captured->data();
        subject.captured = std::move(captured);
        input.caption = "captured";
    } else {
        model.emplace(a.path, a.checkpoint, a.device, stop);
        if (!model->warning().empty())
            std::cerr << "warning: " << plainName(a.path) << ": " << plainName(model->warning())
                      << "\n";
        resolveTrainingEdits(a.edits, a.path, *model);
        input =
            withOptionNames(analysis, [&] { return inputOf(analysis, a, values, *model, stop); });
        subject.interventions = interventionsOf(a.edits, a.path, *model, input.points);
        if (input.example >= 0)
            subject.interventions.data.exampleSplit = a.split,
            subject.interventions.data.example = input.example;
        subject.leaveOutTrainingEdits = core::namesNone(a.edits);
        if (analysis.twoModels) subject.other = otherOf(a, input, stop);
    }
    const auto along = values.find("along");
    if (analysis.input == AnalysisInput::KeptSteps ||
        (along != values.end() && along->second == FieldValue(true)))
        followSeries(subject.run, *a.fetches);
    ProgressLine line;
    std::string doing = analysis.doing;
    doing[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(doing[0])));
    if (analysis.input == AnalysisInput::Data && subject.data && !subject.pairs)
        doing += " on " + (subject.captured ? subject.data->info().name : a.split);
    core::AnalysisWatch watch{stop, {}, {}, {}};
    watch.progress = [&](double fraction) {
        line.show(fraction, doing);
        return !stop.stop_requested();
    };
    const auto result = withOptionNames(
        analysis, [&] { return serve::measured(analysis, subject, values, watch); });
    line.done();
    if (model) nameMeans(*model, subject.interventions.edits);
    if (!a.out.empty()) {
        a.out.ends_with(".html") ? writeReport(analysis, result, input, a, values)
                                 : write(analysis, result, input, a, call.paper);
        line.say("wrote " + a.out);
    }
    if (const auto remark = analysis.remark ? analysis.remark(result) : ""; !remark.empty())
        line.say(remark);
    if (call.json)
        std::cout << textOf(jsonOf(analysis, result, input));
    else if (a.out.empty() || analysis.report)
        std::cout << analysis.terminal(result);
    return stop.stop_requested() ? kExitInterrupted : 0;
}

void inputOptions(CLI::App& command, const core::Analysis& analysis, AnalysisArguments& a) {
    const bool steps = analysis.input == AnalysisInput::KeptSteps;
    checkpointOption(command, a.path, steps ? "run folder" : "run or checkpoint folder", "path",
                     a.fetches);
    if (analysis.input == AnalysisInput::Data) {
        command.add_option("--split", a.split, "split to measure on");
        auto* text = command.add_option("--text", a.text, "a text to measure on");
        auto* data = command.add_option("--data", a.data, ".npz images to measure on");
        data->excludes(text);
        if (analysis.onPairs || analysis.readsPairs)
            pairOptions(command, a.pairs, a.fields)->excludes(text)->excludes(data);
    } else if (analysis.input == AnalysisInput::Sentences) {
        pairOptions(command, a.pairs, a.fields);
    } else if (analysis.input == AnalysisInput::Pair) {
        auto* clean = command.add_option("--clean", a.clean,
                                         "input A: sample:N, text:T, tokens:1,2, image:FILE");
        command.add_option("--corrupt", a.corrupt, "input B, which A's parts are put into");
        command.add_option("--split", a.split, "split that samples are from");
        auto* pairs = pairOptions(command, a.pairs, a.fields)->excludes(clean);
        command
            .add_option("--pair", a.pair, "which of them: A is its good sentence, B its wrong one")
            ->needs(pairs)
            ->check(CLI::PositiveNumber);
    } else if (analysis.input != AnalysisInput::OwnPrompts) {
        sampleOptions(command, a);
    }
    if (analysis.input != AnalysisInput::KeptSteps)
        command.add_option("--checkpoint", a.checkpoint, "of a run: last, best, or a step");
    if (!analysis.twoModels) return;
    otherOption(command, a.other.path, "B: a run or a checkpoint; without it the same as A");
    command.add_option("--other-checkpoint", a.other.checkpoint,
                       "of a run that is B: last, best, or a step");
    command
        .add_option("--other-edit", a.other.edits,
                    "for B a file of edits, words as \"layer 2 relation 3 zero\", or none; can be "
                    "repeated")
        ->take_all();
}

}  // namespace

Command analysisCommand(const core::Analysis& analysis) {
    Command command{analysis.name, analysis.summary, {}, Needs::Threads, true, true};
    command.declare = [&analysis](CLI::App& app) -> std::function<int(const Call&)> {
        const auto arguments = std::make_shared<AnalysisArguments>();
        const auto given = std::make_shared<GivenOptions>();
        if (analysis.input == AnalysisInput::Data) arguments->split = analysis.split;
        inputOptions(app, analysis, *arguments);
        for (const auto& field : analysis.fields)
            declareField(app, field, given->fields[field.spec.name]);
        app.add_option("--out", arguments->out,
                       analysis.report  ? ".html (a report, with .md and pictures), .csv, .json, "
                                          ".png, .svg or .pdf"
                       : analysis.latex ? ".csv, .tex, .json, .png, .svg or .pdf"
                                        : ".csv, .json, .png, .svg or .pdf");
        app.add_option("--device", arguments->device, "auto, cpu, cuda:0");
        app.add_option("--edit", arguments->edits, kEditHelp)->take_all();
        return [&analysis, arguments, given](const Call& call) {
            auto values = valuesOf(analysis, *given);
            // What follows the difference is what a sentence is judged by.
            if (analysis.input == AnalysisInput::Pair && !arguments->pairs.empty())
                values.try_emplace("metric", std::string("following"));
            if (!analysis.onPairs || arguments->pairs.empty())
                return runAnalysis(analysis, *arguments, values, call);
            const auto& onPairs = analysis.onPairs();
            for (const auto& [name, value] : values)
                if (!onPairs.field(name))
                    throw OptionError(optionName(name), "is not for minimal pairs");
            return runAnalysis(onPairs, *arguments, values, call);
        };
    };
    return command;
}

int inspectAlong(const InspectArguments& a, const Call& call) {
    if (!core::isRunFolder(a.path))
        throw OptionError("--along", "needs a run folder: only runs keep weights along training");
    if (a.step >= 0 || !a.named.empty())
        throw OptionError("--step", "is not for --along, which shows all kept steps");
    if (a.source < 0 || a.to < 0)
        throw OptionError(a.source < 0 ? "--source" : "--to",
                          "is missing: --along needs a cell, as --source I --to J");
    AnalysisArguments b;
    static_cast<SampleArguments&>(b) = a;
    b.fetches = a.fetches;
    b.path = a.path, b.out = a.out, b.device = a.device, b.edits = a.edits;
    const auto whole = [](int value) { return static_cast<std::int64_t>(value); };
    core::OptionValues values = {{"kind", a.kind},          {"layer", whole(a.layer)},
                                 {"index", whole(a.index)}, {"source", whole(a.source)},
                                 {"to", whole(a.to)},       {"answer", a.answer}};
    return runAnalysis(*core::findAnalysis("along"), b, values, call);
}

CLI::Option* pairOptions(CLI::App& command, std::string& pairs, std::string& fields) {
    auto* option = command.add_option(
        "--pairs", pairs,
        "minimal-pairs (twelve phenomena), JSON lines with sentence_good and sentence_bad, or a "
        "folder of them");
    command.add_option("--fields", fields, "names of their fields: GOOD,BAD,PREFIX,PHENOMENON")
        ->needs(option);
    return option;
}

int evaluatePairs(const PairArguments& pairs, const Call& call) {
    AnalysisArguments a;
    a.path = pairs.path, a.checkpoint = pairs.checkpoint, a.device = pairs.device;
    a.pairs = pairs.pairs, a.fields = pairs.fields, a.out = pairs.out, a.edits = pairs.edits;
    return runAnalysis(core::pairsAnalysis(), a,
                       {{"score", pairs.score}, {"untrained", pairs.untrained}}, call);
}

}  // namespace relascope::cli
