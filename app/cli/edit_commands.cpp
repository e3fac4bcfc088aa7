// SPDX-License-Identifier: GPL-3.0-or-later
// points, ablate and patch: interventions on a model.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/ablation_options.h"
#include "analysis/results.h"
#include "app/cli/answers.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/run_text.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "model/architecture.h"
#include "run/run_folder.h"
#include "types/metric.h"
#include "types/suggest.h"

namespace relascope::cli {
namespace {

struct PointsArguments {
    std::string path, checkpoint;
    bool json = false;
};

struct AblateArguments {
    std::string path, checkpoint, split = "validation", metric, out, device = "auto";
    std::vector<std::string> how = {"zero", "mean", "resample"};
    std::vector<std::string> what = {"heads", "relations", "columns", "paths", "mlp"};
    std::int64_t examples = 2000;
    std::vector<std::string> edits;
    bool cumulative = false, pairs = false, json = false;
};

struct PatchArguments {
    std::string path, checkpoint, split = "validation", clean, corrupt, metric = "auto", out,
                                  device = "auto";
    std::vector<std::string> over = {"resid", "attn", "mlp", "heads", "relations"};
    std::vector<std::string> edits;
    bool estimate = false, noising = false, json = false;
};

using Json = nlohmann::ordered_json;

void warnOf(const std::string& path, const core::OpenedModel& opened) {
    if (!opened.warning().empty())
        std::cerr << "warning: " << path << ": " << opened.warning() << "\n";
}

Json ablationJson(const AblationTable& table, const core::OpenedModel& opened,
                  const EditList& edits) {
    Json rows = Json::array(), cumulative = Json::array(), pairs = Json::array();
    for (const auto& row : table.rows) {
        Json ways;
        for (const auto& way : row.ways)
            ways[editOpName(way.how)] = {
                {"edited", finiteJson(way.change.edited)},
                {"change", finiteJson(way.change.change)},
                {"interval", {finiteJson(way.change.low), finiteJson(way.change.high)}},
                {"changed_answers", finiteJson(way.changedAnswers)}};
        rows.push_back({{"part", row.part},
                        {"group", row.group},
                        {"point", row.edit.point},
                        {"part_norm", finiteJson(row.partNorm)},
                        {"stream_norm", finiteJson(row.streamNorm)},
                        {"ways", ways}});
    }
    for (const auto& [part, value] : table.cumulative)
        cumulative.push_back({{"part", part}, {"edited", finiteJson(value)}});
    for (const auto& pair : table.pairs)
        pairs.push_back({{"first", pair.first},
                         {"second", pair.second},
                         {"joint_change", finiteJson(pair.joint)},
                         {"interaction", finiteJson(pair.interaction)}});
    Json json = {{"metric", table.metric},
                 {"examples", table.examples},
                 {"base", finiteJson(table.base)},
                 {"rows", rows}};
    if (!table.cumulative.empty())
        json["cumulative"] = {{"how", editOpName(table.cumulativeWay)}, {"parts", cumulative}};
    if (!table.pairs.empty()) json["pairs"] = pairs;
    addEdits(json, opened, edits);
    return json;
}

void printTable(const AblationTable& table) {
    const bool percent = metricInfo(table.metric).format == MetricFormat::Percent;
    const double scale = percent ? 100.0 : 1.0;
    std::printf("%s %.4g%s with every part, %lld examples; change%s with each part out:\n",
                table.metric.c_str(), scale * table.base, percent ? " %" : "",
                static_cast<long long>(table.examples), percent ? " in points" : "");
    for (const auto& row : table.rows) {
        std::printf("%-42s", row.part.c_str());
        for (const auto& way : row.ways)
            std::printf("  %s %+7.3g [%+.3g, %+.3g]", editOpName(way.how),
                        scale * way.change.change, scale * way.change.low, scale * way.change.high);
        std::printf("\n");
    }
    if (!table.cumulative.empty())
        std::printf("removed one after another (%s):\n", editOpName(table.cumulativeWay));
    for (const auto& [part, value] : table.cumulative)
        std::printf("  %-40s %.4g\n", part.c_str(), scale * value);
    for (const auto& pair : table.pairs)
        std::printf("%s and %s: together %+.3g, interaction %+.3g\n", pair.first.c_str(),
                    pair.second.c_str(), scale * pair.joint, scale * pair.interaction);
}

EditOp wayOf(const std::string& name) {
    for (const auto op : {EditOp::Zero, EditOp::Mean, EditOp::Resample})
        if (name == editOpName(op)) return op;
    throw OptionError("--how", unknownName("way", name, {"zero", "mean", "resample"}));
}

int points(const PointsArguments& a, const Call&) {
    core::OpenedModel opened(a.path, a.checkpoint, "cpu");
    const auto points = opened.points(opened.randomInput(0));
    if (points.empty())
        throw OptionError("path", opened.options().architecture() + " has no hook points");
    Json list = Json::array();
    for (const auto& point : points) {
        if (a.json) {
            list.push_back({{"name", point.name},
                            {"axes", point.axes},
                            {"shape", point.shape},
                            {"causal", point.causal}});
            continue;
        }
        std::string axes;
        for (std::size_t d = 0; d < point.axes.size(); ++d)
            axes += (d ? ", " : "") + point.axes[d] + " " + std::to_string(point.shape[d]);
        std::printf("%-40s %s\n", point.name.c_str(), axes.c_str());
    }
    if (a.json) std::cout << list.dump(2) << "\n";
    return 0;
}

int ablate(const AblateArguments& a, const Call& call) {
    const auto stop = stopOnSignals();
    std::string extension;
    if (!a.out.empty()) extension = endingOf(a.out, {".csv", ".tex", ".json"});
    if (call.drawing.elsewhere(a.out, call.drawing.renderers.analysis))
        return call.drawing.handOver();
    core::AblationOptions how;
    how.how.clear();
    for (const auto& name : a.how) how.how.push_back(wayOf(name));
    how.what = a.what;
    how.examples = a.examples;
    how.cumulative = a.cumulative;
    how.pairs = a.pairs;
    core::OpenedModel opened(a.path, a.checkpoint, a.device, stop);
    warnOf(a.path, opened);
    resolveTrainingEdits(a.edits, a.path, opened);
    if (!opened.isRun())
        throw OptionError("path", a.path + " is no run folder; only runs have data to measure on");
    how.metric = !a.metric.empty()                 ? a.metric
                 : opened.options().info().numbers ? "mean_error"
                                                   : "accuracy";
    if (opened.options().input() == InputKind::Tokens) how.batchSize = 4;
    how.check();
    const auto splits = datasets::openData(core::runData(a.path, opened.run().data), {}, stop);
    const auto data = splits.find(a.split);
    if (!data) throw OptionError("--split", unknownName("split", a.split, splits.names()));
    const auto interventions = interventionsOf(a.edits, a.path, opened, data->sample(0));
    ProgressLine line;
    const auto table = opened.ablate(data, interventions, how, stop, [&](double fraction) {
        line.show(fraction, "ablating on " + a.split);
        return !stop.stop_requested();
    });
    line.done();
    if (extension == ".csv")
        core::writeTextFile(a.out, core::csvOf(table));
    else if (extension == ".tex")
        core::writeTextFile(a.out, core::latexOf(table));
    else if (extension == ".json")
        core::writeTextFile(a.out, ablationJson(table, opened, interventions.edits).dump(2) + "\n");
    else if (isPicture(a.out))
        Drawing::draw(
            call.drawing.renderers.analysis,
            AnalysisFigure{table, editedCaption(a.path, opened, interventions.edits, a.split),
                           a.out});
    if (!a.out.empty()) line.say("wrote " + a.out);
    if (a.json)
        std::cout << ablationJson(table, opened, interventions.edits).dump(2) << "\n";
    else if (a.out.empty())
        printTable(table);
    return 0;
}

int patch(const PatchArguments& a, const Call& call) {
    const auto stop = stopOnSignals();
    if (!a.out.empty()) endingOf(a.out, {".csv"});
    if (call.drawing.elsewhere(a.out, call.drawing.renderers.analysis))
        return call.drawing.handOver();
    core::PatchOptions how;
    how.over = a.over;
    how.metric = a.metric;
    how.estimateOnly = a.estimate;
    how.noising = a.noising;
    how.check();
    core::OpenedModel opened(a.path, a.checkpoint, a.device, stop);
    warnOf(a.path, opened);
    resolveTrainingEdits(a.edits, a.path, opened);
    const auto clean = inputFromWords(a.clean, "--clean", a.path, opened, a.split),
               corrupted = inputFromWords(a.corrupt, "--corrupt", a.path, opened, a.split);
    const auto interventions = interventionsOf(a.edits, a.path, opened, clean);
    ProgressLine line;
    const auto result =
        opened.patch(clean, corrupted, how, interventions, stop, [&](double fraction) {
            line.show(fraction, "patching");
            return !stop.stop_requested();
        });
    line.done();
    nameMeans(opened, interventions.edits);
    if (stop.stop_requested()) line.say("interrupted; the cells so far follow");
    if (!a.out.empty()) {
        if (isPicture(a.out))
            Drawing::draw(
                call.drawing.renderers.analysis,
                AnalysisFigure{result,
                               editedCaption(a.path, opened, interventions.edits,
                                             "A: " + clean.origin + ", B: " + corrupted.origin),
                               a.out});
        else
            core::writeTextFile(a.out, core::csvOf(result));
        line.say("wrote " + a.out);
    }
    if (a.json) {
        Json maps = Json::array();
        const auto numbers = [](const std::vector<double>& values) {
            Json list = Json::array();
            for (const double value : values) list.push_back(finiteJson(value));
            return list;
        };
        for (const auto& map : result.maps)
            maps.push_back({{"over", map.over},
                            {"point", map.point},
                            {"rows", map.rows},
                            {"columns", map.columns},
                            {"estimate", numbers(map.estimate)},
                            {"exact", numbers(map.exact)}});
        Json all = {{"metric", result.metric},
                    {"clean", result.clean},
                    {"corrupted", result.corrupted},
                    {"agreement", finiteJson(result.agreement)},
                    {"maps", maps}};
        addEdits(all, opened, interventions.edits);
        std::cout << all.dump(2) << "\n";
    } else if (a.out.empty()) {
        std::printf("%s: %.4g with A, %.4g with B\n", result.metric.c_str(), result.clean,
                    result.corrupted);
        std::cout << core::csvOf(result);
    }
    return stop.stop_requested() ? kExitInterrupted : 0;
}

void pointsOptions(CLI::App& command, PointsArguments& a) {
    command.add_option("path", a.path, "run or checkpoint folder")->required();
    command.add_option("--checkpoint", a.checkpoint, "of a run: last, best, or a step");
}

void ablateOptions(CLI::App& command, AblateArguments& a) {
    command.add_option("path", a.path, "run folder")->required();
    command.add_option("--checkpoint", a.checkpoint, "last, best, or a step");
    command.add_option("--split", a.split, "split to measure on");
    command.add_option("--examples", a.examples, "number of examples, at most")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000000}));
    command.add_option("--how", a.how, "zero, mean, resample")->delimiter(',');
    command.add_option("--what", a.what, "heads, relations, columns, paths, mlp, symbols")
        ->delimiter(',');
    command.add_option("--metric", a.metric, "accuracy, loss or mean_error");
    command.add_flag("--cumulative", a.cumulative, "then take out more and more, least first");
    command.add_flag("--pairs", a.pairs, "and the pairs of the ten strongest parts");
    command.add_option("--out", a.out, ".csv, .tex, .json, .png, .svg or .pdf");
    command.add_option("--device", a.device, "auto, cpu, cuda:0");
    command.add_option("--edit", a.edits, kEditHelp)->take_all();
}

void patchOptions(CLI::App& command, PatchArguments& a) {
    command.add_option("path", a.path, "run or checkpoint folder")->required();
    command.add_option("--clean", a.clean, "input A: sample:N, text:T, tokens:1,2, image:FILE")
        ->required();
    command.add_option("--corrupt", a.corrupt, "input B, which A's parts are put into")->required();
    command.add_option("--split", a.split, "split that samples are from");
    command.add_option("--checkpoint", a.checkpoint, "of a run: last, best, or a step");
    command.add_option("--metric", a.metric,
                       "auto, logit:A, probability:A, logit-difference:A,B; @P for a position");
    command
        .add_option("--over", a.over, "resid, attn, mlp, heads, relations, cells:LAYER:RELATION")
        ->delimiter(',');
    command.add_flag("--estimate", a.estimate, "first-order estimates alone");
    command.add_flag("--noising", a.noising, "exchange A and B");
    command.add_option("--out", a.out, ".csv, .png, .svg or .pdf");
    command.add_option("--device", a.device, "auto, cpu, cuda:0");
    command.add_option("--edit", a.edits, kEditHelp)->take_all();
}

}  // namespace

Command pointsCommand() {
    return commandOf("points", "lists the hook points of a model, where edits can be made",
                     pointsOptions, points, Needs::Threads);
}

Command ablateCommand() {
    return commandOf("ablate", "takes each part of a model out and measures what is lost",
                     ablateOptions, ablate, Needs::Threads);
}

Command patchCommand() {
    return commandOf("patch", "puts parts of one input's pass into another's", patchOptions, patch,
                     Needs::Threads);
}

}  // namespace relascope::cli
