// SPDX-License-Identifier: GPL-3.0-or-later
// One command for each of analyses(), made from its description; and inspect --along.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/analysis.h"
#include "analysis/open_model.h"
#include "analysis/pairs/captured_maps.h"
#include "analysis/run_analysis.h"
#include "answers/answer_text.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/question_arguments.h"
#include "app/cli/run_text.h"
#include "app/serve/kept_results.h"
#include "app/serve/question_subject.h"
#include "files/atomic_file.h"
#include "interventions/edit_words.h"
#include "model/recorded/recorded_options.h"
#include "model/served/served_options.h"
#include "question/question_fields.h"
#include "question/question_words.h"
#include "run/run_folder.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

using core::AnalysisInput;
using Json = nlohmann::ordered_json;

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

Json jsonOf(const core::Analysis& analysis, const Answer& result,
            const serve::AskedSubject& input) {
    Json all;
    const auto& captured = input.subject.captured;
    if (analysis.input != AnalysisInput::KeptSteps)
        all["step"] = captured ? captured->step() : input.subject.model->step();
    if (!input.sample.empty()) all["sample"] = input.sample;
    all.update(analysis.json(result));
    if (captured) return all;
    addEdits(all, *input.subject.model, input.subject.interventions.edits);
    if (input.subject.model) addHead(all, *input.subject.model);
    return all;
}

void writeReport(const core::Analysis& analysis, const Answer& result,
                 const serve::AskedSubject& input, const Question& asked, const std::string& file) {
    const std::filesystem::path out(file);
    std::error_code failed;  // an error is reported by the writing that follows
    if (out.has_parent_path()) std::filesystem::create_directories(out.parent_path(), failed);
    const auto subject = editedCaption(input.subject.path, *input.subject.model,
                                       input.subject.interventions.edits, input.caption);
    for (const auto& one :
         analysis.report(result, out.stem().string(), subject, core::wordsOf(asked)))
        core::writeTextFile((out.parent_path() / one.name).string(), one.content);
}

// Names of classes and files may be any bytes.
std::string textOf(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write(const core::Analysis& analysis, const Answer& result, const serve::AskedSubject& input,
           const std::string& out, bool paper) {
    const auto& path = input.subject.path;
    const auto& edits = input.subject.interventions.edits;
    if (isPicture(out)) {
        auto caption = input.subject.captured
                           ? folderName(path) + ", step " +
                                 std::to_string(input.subject.captured->step()) + ", " +
                                 input.caption
                           : editedCaption(path, *input.subject.model, edits, input.caption);
        if (analysis.input == AnalysisInput::KeptSteps) {  // the result belongs to no single step
            caption = folderName(path) + ", " + input.caption;
            if (edits.anyEnabled()) caption += ", edited: " + core::wordsOf(edits);
        }
        draw(out, wire::AnalysisFigure{analysis.name, result, caption}, paper);
    } else if (out.ends_with(".tex")) {
        core::writeTextFile(out, analysis.latex(result));
    } else if (out.ends_with(".json")) {
        core::writeTextFile(out, textOf(jsonOf(analysis, result, input)));
    } else {
        writeCsv(out, result);
    }
}

struct Wanted {
    std::string out;  ///< the file to write; empty: none
    std::shared_ptr<bool> fetches = std::make_shared<bool>(false);  ///< --fetch
};

int runAnalysis(const core::Analysis& analysis, const Question& asked,
                const core::OptionValues& values, const Wanted& wanted, const Call& call) {
    const auto stop = stopOnSignals();
    const auto& named = asked.subjects.front();
    const auto &path = named.path, &checkpoint = named.checkpoint;
    const auto& edits = named.edits;
    const auto& out = wanted.out;
    if (!out.empty())
        analysis.report  ? endingOf(out, {".html", ".csv", ".json"})
        : analysis.latex ? endingOf(out, {".csv", ".tex", ".json"})
                         : endingOf(out, {".csv", ".json"});
    requireDrawing(out);
    withOptionNames(analysis, [&] { core::checkOptions(analysis.fields, values); });
    std::optional<core::OpenedModel> model;
    serve::OpenedDataSets sets;
    sets.follow(stop, {});
    sets.setSay(sayNote);
    const wire::Asked question(asked);
    auto found = serve::capturedSubject(analysis, question);
    if (!found) {
        model.emplace(path, checkpoint, serve::deviceOf(named), stop, core::ProgressCallback(),
                      named.imageSize);
        if (!model->warning().empty())
            std::cerr << "warning: " << plainName(path) << ": " << plainName(model->warning())
                      << "\n";
        resolveTrainingEdits(edits, path, *model);
        found = withOptionNames(
            analysis, [&] { return serve::subjectOf(analysis, question, values, &*model, sets); });
        nameEdits(path, found->subject.interventions.edits);
        if (const auto said = serve::headRemark(*model); !said.empty())
            std::cerr << plainName(path) << ": " << plainName(said) << "\n";
        if (analysis.twoModels) found->subject.other = serve::otherSubject(question, *found, sets);
    }
    const auto& input = *found;
    auto& subject = found->subject;
    const auto along = values.find("along");
    if (analysis.input == AnalysisInput::KeptSteps ||
        (along != values.end() && along->second == FieldValue(true)))
        followSeries(subject.run, *wanted.fetches);
    ProgressLine line;
    std::string progressText = analysis.progressText;
    progressText[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(progressText[0])));
    if (analysis.input == AnalysisInput::Data && subject.data && !subject.pairs)
        progressText += " on " + (subject.captured ? subject.data->info().name
                                                   : asked.value("split", analysis.split));
    core::AnalysisWatch watch{stop, {}, {}, {}};
    watch.progress = [&](double fraction) {
        line.show(fraction, progressText);
        return !stop.stop_requested();
    };
    const auto result = withOptionNames(
        analysis, [&] { return serve::measured(analysis, subject, values, watch); });
    line.done();
    if (model) nameMeans(*model, subject.interventions.edits);
    if (!out.empty()) {
        out.ends_with(".html") ? writeReport(analysis, result, input, asked, out)
                               : write(analysis, result, input, out, call.paper);
        line.say("wrote " + out);
    }
    if (const auto remark = analysis.remark ? analysis.remark(result) : ""; !remark.empty())
        line.say(remark);
    if (call.json)
        std::cout << textOf(jsonOf(analysis, result, input));
    else if (out.empty() || analysis.report)
        std::cout << analysis.terminal(result);
    return stop.stop_requested() ? kExitInterrupted : 0;
}

}  // namespace

Command analysisCommand(const core::Analysis& analysis) {
    Command command{analysis.name, analysis.summary, {}, Needs::Threads, true, true};
    command.declare = [&analysis](CLI::App& app) -> std::function<int(const Call&)> {
        const auto asked = std::make_shared<Question>();
        const auto wanted = std::make_shared<Wanted>();
        declareQuestion(app, analysis.name, *asked, wanted->fetches);
        app.add_option("--out", wanted->out,
                       analysis.report  ? ".html (a report, with .md and pictures), .csv, .json, "
                                          ".png, .svg or .pdf"
                       : analysis.latex ? ".csv, .tex, .json, .png, .svg or .pdf"
                                        : ".csv, .json, .png, .svg or .pdf");
        return [&analysis, asked, wanted](const Call& call) {
            core::checkTogether(*asked);
            auto values = core::valuesOf(analysis, *asked);
            const bool pairs = asked->option("pairs") != nullptr;
            // What follows the difference is what a sentence is judged by.
            if (analysis.input == AnalysisInput::Pair && pairs)
                values.try_emplace("metric", std::string("following"));
            if (analysis.onPairs.empty() || !pairs)
                return runAnalysis(analysis, *asked, values, *wanted, call);
            const auto& onPairs = core::analysisNamed(analysis.onPairs);
            for (const auto& [name, value] : values)
                if (!onPairs.field(name))
                    throw OptionError(optionName(name), "is not for minimal pairs");
            return runAnalysis(onPairs, *asked, values, *wanted, call);
        };
    };
    return command;
}

int inspectAlong(const InspectArguments& a, const Call& call) {
    if (!core::isRunFolder(a.path) && !core::isServedName(a.path))
        throw OptionError(
            "--along", "needs a run folder or a served model, which keep weights along training");
    if (a.step >= 0 || !a.named.empty())
        throw OptionError("--step", "is not for --along, which shows all kept steps");
    if (a.source < 0 || a.to < 0)
        throw OptionError(a.source < 0 ? "--source" : "--to",
                          "is missing: --along needs a cell, as --source I --to J");
    auto asked = a.input;
    asked.command = "along";
    asked.subjects.resize(1);
    asked.subjects[0].checkpoint.clear();
    const auto whole = [](int value) { return static_cast<std::int64_t>(value); };
    core::OptionValues values = {{"kind", a.kind},          {"layer", whole(a.layer)},
                                 {"index", whole(a.index)}, {"source", whole(a.source)},
                                 {"to", whole(a.to)},       {"answer", a.answer}};
    return runAnalysis(core::analysisNamed("along"), asked, values, {a.out, a.fetches}, call);
}

int evaluatePairs(const Question& given, const std::string& checkpoint, const std::string& out,
                  const Call& call) {
    const auto& analysis = core::analysisNamed("pair-accuracy");
    auto asked = given;
    asked.command = analysis.name;
    asked.subjects.front().checkpoint = checkpoint;
    // What a report says of the command are its words: those of that analysis alone.
    const auto known = core::questionFields(analysis.name);
    std::erase_if(asked.options, [&](const Option& option) {
        return std::none_of(known.begin(), known.end(),
                            [&](const FieldSpec& spec) { return spec.name == option.name; });
    });
    return runAnalysis(analysis, asked, core::valuesOf(analysis, asked), {out}, call);
}

}  // namespace relascope::cli
