// SPDX-License-Identifier: GPL-3.0-or-later
// inspect --along: a map, a cell and an answer at every kept step of a run.
#include <cmath>
#include <iostream>

#include "analysis/along_training.h"
#include "app/cli/answers.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/run_text.h"
#include "files/atomic_file.h"
#include "interventions/edit_words.h"
#include "run/run_folder.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

// The names of the options on the command line; i and j have others there.
const char* optionOf(const std::string& field) {
    if (field == "i") return "--source";
    if (field == "j") return "--to";
    for (const char* name : {"--layer", "--index", "--kind", "--answer"})
        if (field == name + 2) return name;
    return nullptr;
}

void requireRun(const InspectArguments& a) {
    if (!core::isRunFolder(a.path))
        throw OptionError("--along", "needs a run folder: only runs keep weights along training");
    if (a.step >= 0) throw OptionError("--step", "is not for --along, which shows all kept steps");
    if (a.source < 0 || a.to < 0)
        throw OptionError(a.source < 0 ? "--source" : "--to",
                          "is missing: --along needs a cell, as --source I --to J");
}

// One number, or null for none: NaN is not JSON.
Json numberOf(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}

Json json(const AlongTraining& along, const InspectArguments& a, const ProbeSample& sample,
          const EditList& edits) {
    Json steps = Json::array(), values = Json::array(), probabilities = Json::array();
    Json before = Json::array(), beforeProbabilities = Json::array();
    for (const auto& at : along.steps) {
        steps.push_back(at.step);
        values.push_back(numberOf(at.now.value));
        probabilities.push_back(numberOf(at.now.probability));
        before.push_back(numberOf(at.before.value));
        beforeProbabilities.push_back(numberOf(at.before.probability));
    }
    Json all = {{"sample", sample.origin},
                {"kind", a.kind},
                {"layer", a.layer},
                {"layer_name", along.layerName},
                {"index", a.index},
                {"i", along.cell.i},
                {"j", along.cell.j},
                {"answer", along.answer},
                {"answer_name", along.answerName},
                {"steps", std::move(steps)},
                {"values", std::move(values)},
                {"probabilities", std::move(probabilities)}};
    if (!along.edited) return all;
    all["edits"] = wordsOfEach(edits);
    all["values_before"] = std::move(before);
    all["probabilities_before"] = std::move(beforeProbabilities);
    return all;
}

}  // namespace

int inspectAlong(const InspectArguments& a, MapKind kind, const Drawing& drawing) {
    requireRun(a);
    if (drawing.elsewhere(a.out, drawing.renderers.analysis)) return drawing.handOver();
    const auto stop = stopOnSignals();
    core::OpenedModel opened(a.path, "", a.device);
    auto [sample, classNames] = readSample(opened, a.path, a);
    const auto input = opened.options().input();
    if (classNames.empty() && (input == InputKind::Images || input == InputKind::Objects))
        classNames = classNamesOf(opened, a.path);
    resolveTrainingEdits(a.edits, a.path, opened);
    core::AlongOptions options;
    options.cell = {kind, a.layer - 1, a.index - 1, 0, a.source, a.to};
    options.edits = editsOf(a.edits, opened.points(sample));
    options.leaveOutTrainingEdits = leavesOutAll(a.edits);
    options.data = editData(a.path, opened);
    if (!a.answer.empty())
        options.answer = opened.answerId(a.answer, "--answer", sample, classNames);
    ProgressLine line;
    AlongTraining along;
    try {
        along = core::alongTraining(a.path, a.device, sample, classNames, options, stop,
                                    [&](double fraction) {
                                        line.show(fraction, "reading the kept steps");
                                        return !stop.stop_requested();
                                    });
        line.done();
    } catch (const OptionError& error) {
        if (const char* name = optionOf(error.field())) throw OptionError(name, error.message());
        throw;
    }
    if (isPicture(a.out)) {
        std::string caption = folderName(a.path) + ", " + sample.origin;
        if (along.edited) caption += ", edited: " + core::wordsOf(options.edits);
        Drawing::draw(drawing.renderers.analysis, AnalysisFigure{along, caption, a.out});
    } else if (!a.out.empty()) {
        core::writeTextFile(a.out, core::csvOf(along));
    }
    if (!a.out.empty()) line.say("wrote " + a.out);
    if (along.answer >= 0)
        line.say("probability of " + cli::quoted(along.answerName) +
                 (a.answer.empty() ? ", the likeliest at the last step" : ""));
    if (a.json)
        printJson(json(along, a, sample, options.edits));
    else if (a.out.empty())
        std::cout << core::csvOf(along);
    return 0;
}

}  // namespace relascope::cli
