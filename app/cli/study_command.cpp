// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/job_door.h"
#include "app/cli/plain_output.h"
#include "app/cli/question_arguments.h"
#include "app/cli/run_text.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "files/machine_limits.h"
#include "options/device_list.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "study/slurm_script.h"
#include "study/study_results.h"
#include "study/work_on_study.h"
#include "types/suggest.h"
#include "types/text_format.h"
#include "types/text_piece.h"
#include "views/curve_look.h"
#include "views/look.h"

namespace relascope::cli {
namespace {

struct StudyArguments {
    Question asked;          ///< what is shown, whose path may be an experiment
    CLI::Option* show = {};  ///< --show
    std::string out, shard, device = "auto", csv, latex, figure;
    std::vector<std::string> models, settings, vary;
    std::vector<std::int64_t> sizes;
    std::string seeds = "3";
    int threads = 0, jobs = 1, slurm = 0, slurmNodes = 1, slurmGpus = 0;
    bool sameData = false, retry = false, quiet = false, json = false, paper = false;

    std::string& preset() { return asked.subjects[0].path; }
    const std::string& preset() const { return asked.subjects[0].path; }
};

using Json = nlohmann::ordered_json;

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::string part;
    for (const char c : text + at) {
        if (c != at) {
            part += c;
            continue;
        }
        if (!part.empty()) parts.push_back(part);
        part.clear();
    }
    return parts;
}

std::int64_t wholeNumber(const std::string& option, const std::string& text) {
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        throw OptionError(option, "'" + text + "' is not an integer");
    return value;
}

// "3" means seeds 0, 1 and 2; "3,7" means those two.
std::vector<std::int64_t> seedsOf(const std::string& text) {
    std::vector<std::int64_t> seeds;
    for (const auto& part : split(text, ',')) seeds.push_back(wholeNumber("--seeds", part));
    if (seeds.empty()) throw OptionError("--seeds", "needs a number of seeds, or a list of seeds");
    if (text.find(',') != std::string::npos) return seeds;
    const auto count = seeds.front();
    if (count < 1 || count > 10000)
        throw OptionError("--seeds", std::to_string(count) + " seeds; give 1 to 10,000");
    seeds.clear();
    for (std::int64_t i = 0; i < count; ++i) seeds.push_back(i);
    return seeds;
}

std::pair<std::string, std::string> keyAndValue(const std::string& option,
                                                const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw OptionError(option, "'" + text + "' is not KEY=VALUE");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

StudyPlan planOf(const StudyArguments& a) {
    StudyPlan plan;
    plan.preset = a.preset();
    // Throws an error that names the nearest presets.
    const auto first = core::presetOptions(a.preset());
    plan.models = a.models;
    if (plan.models.empty()) plan.models = {first.variant};
    plan.sizes = a.sizes;
    plan.seeds = seedsOf(a.seeds);
    for (const auto& text : a.vary) {
        const auto [key, values] = keyAndValue("--vary", text);
        plan.vary.push_back({key, split(values, ',')});
    }
    for (const auto& text : a.settings) {
        auto [key, value] = keyAndValue("--set", text);
        plan.settings.emplace_back(key, core::fileSetting(key, value));
    }
    plan.sameData = a.sameData;
    return plan;
}

core::StudyWork workOf(const StudyArguments& a) {
    core::StudyWork work;
    work.retry = a.retry;
    work.device = a.device;
    if (a.shard.empty()) return work;
    const auto parts = split(a.shard, '/');
    if (parts.size() != 2) throw OptionError("--shard", "'" + a.shard + "' is not i/n, as in 1/4");
    work.shard = static_cast<int>(wholeNumber("--shard", parts[0]));
    work.shards = static_cast<int>(wholeNumber("--shard", parts[1]));
    if (work.shards < 1 || work.shard < 1 || work.shard > work.shards)
        throw OptionError("--shard", "'" + a.shard + "' needs 1 <= i <= n");
    return work;
}

core::StudyMeasure measureOf(const Question& asked, const StudyInfo& study) {
    const auto measures = core::studyMeasures(study);
    if (measures.empty()) return {"accuracy", "test"};
    const auto metric = asked.text("metric"), split = asked.text("split");
    for (const auto& measure : measures)
        if ((metric.empty() || measure.metric == metric) &&
            (split.empty() || measure.split == split))
            return measure;
    std::vector<std::string> names;
    for (const auto& m : measures) names.push_back(m.metric + " on " + m.split);
    throw OptionError("--metric", unknownName("measure", metric + " on " + split, names));
}

void printTable(const StudyInfo& study, const core::StudyMeasure& measure) {
    const auto points = core::studyPoints(study, measure);
    const auto published = core::publishedCurves(study.plan, measure);
    print("%s: %s on %s\n", study.plan.preset.c_str(), measure.metric.c_str(),
          core::splitTitle(study, measure).c_str());
    std::size_t width = 10;
    for (const auto& p : points) width = std::max(width, p.series.size());
    const int names = static_cast<int>(width);
    print("%-*s %9s %5s %20s %12s %11s\n", names, "model", "size", "runs", "mean +- s.e.m.",
          "parameters", "published");
    for (const auto& p : points) {
        char value[48], paper[48] = "";
        std::snprintf(value, sizeof value, "%.4f", p.mean);
        if (!std::isnan(p.error))
            std::snprintf(value, sizeof value, "%.4f +- %.4f", p.mean, p.error);
        for (const auto& q : published)
            if (q.series == p.series && q.size == p.size)
                std::snprintf(paper, sizeof paper, "%.4f", q.mean);
        print("%-*s %9lld %5zu %20s %12lld %11s\n", names, p.series.c_str(),
              static_cast<long long>(p.size), p.values.size(), value,
              static_cast<long long>(p.parameters), paper);
    }
    print("%zu of %zu runs done, %zu failed, %zu interrupted, %zu running, %zu waiting\n",
          study.count(CellState::Done), study.cells.size(), study.count(CellState::Failed),
          study.count(CellState::Interrupted), study.count(CellState::Running),
          study.count(CellState::Waiting));
    for (const auto& cell : study.cells)
        if (cell.state == CellState::Failed)
            print("failed: %s: %s\n", plainName(cell.name).c_str(),
                  plainName(cell.message).c_str());
}

/// A line for each run, in place of the means.
void printRuns(const StudyInfo& study, const core::StudyMeasure& measure) {
    print("%s: %s on %s\n", study.plan.preset.c_str(), measure.metric.c_str(),
          core::splitTitle(study, measure).c_str());
    std::size_t width = 10;
    for (const auto& cell : study.cells) width = std::max(width, cell.name.size());
    print("%-*s %-12s %10s\n", static_cast<int>(width), "run", "state", "value");
    for (const auto& cell : study.cells) {
        const double value = core::studyValue(cell, measure);
        char text[32] = "";
        if (!std::isnan(value)) std::snprintf(text, sizeof text, "%.4f", value);
        print("%-*s %-12s %10s\n", static_cast<int>(width), plainName(cell.name).c_str(),
              cellStateName(cell.state), text);
    }
}

Json studyJson(const StudyInfo& study, const core::StudyMeasure& measure) {
    Json cells = Json::array(), points = Json::array();
    for (const auto& cell : study.cells)
        cells.push_back({{"name", cell.name},
                         {"model", cell.model},
                         {"size", cell.size},
                         {"values", cell.values},
                         {"seed", cell.seed},
                         {"state", cellStateName(cell.state)},
                         {"value", finiteJson(core::studyValue(cell, measure))},
                         {"run", cell.info.path},
                         {"message", cell.message}});
    for (const auto& p : core::studyPoints(study, measure))
        points.push_back({{"series", p.series},
                          {"size", p.size},
                          {"runs", p.values.size()},
                          {"mean", finiteJson(p.mean)},
                          {"sem", finiteJson(p.error)},
                          {"low", finiteJson(p.low)},
                          {"high", finiteJson(p.high)},
                          {"parameters", p.parameters}});
    return {{"study", study.path},      {"preset", study.plan.preset},
            {"metric", measure.metric}, {"split", measure.split},
            {"cells", cells},           {"points", points}};
}

void workAlone(const StudyArguments& a, const std::stop_token& stop) {
    ProgressLine line;
    std::string validation;
    const core::DataOpener open = [](const RunOptions& options, std::stop_token token) {
        return datasets::openRunData(options, {}, std::move(token));
    };
    core::StudyWork work = workOf(a);
    JobDoor job(stop, [&](const std::string& text) { line.say("warning: " + text); });
    work.control = &job.control;
    work.door = job.socket();
    workOnStudy(
        a.out, work, open,
        [&](const core::StudyProgress& at, const TrainEvent& event) {
            if (job.door()) job.door()->take(event);
            if (const auto* point = std::get_if<MetricPoint>(&event)) {
                if (point->split == Split::Validation) validation = scoreText(point->values);
            } else if (const auto* p = std::get_if<Progress>(&event)) {
                const double run = static_cast<double>(p->step) /
                                   static_cast<double>(std::max<std::int64_t>(1, p->totalSteps));
                line.show((static_cast<double>(at.done) + std::min(1.0, run)) /
                              static_cast<double>(at.total),
                          std::to_string(at.done) + " of " + std::to_string(at.total) + " runs, " +
                              at.cell.name + "  step " + std::to_string(p->step) + "  " +
                              validation);
            } else if (const auto* failed = std::get_if<Failed>(&event)) {
                line.say("failed: " + at.cell.name + ": " + failed->message);
            } else if (const auto* changed = std::get_if<RunChanged>(&event);
                       changed && changed->info.state == RunState::Done &&
                       at.cell.state == CellState::Done) {
                std::string text;
                for (const auto& result : changed->info.results)
                    text += "  " + result.split + " " + scoreText(result.values);
                line.say("done: " + at.cell.name + text);
            }
        },
        job.stop());
    line.done();
}

// The study with only the models that are to be drawn.
StudyInfo drawnOf(const Question& asked, StudyInfo study) {
    const auto curves = asked.value<std::vector<std::string>>("curves");
    if (curves.empty()) return study;
    const auto left = [&](const std::string& model) {
        return std::find(curves.begin(), curves.end(), model) == curves.end();
    };
    auto& models = study.plan.models;
    const auto all = models;
    std::erase_if(models, left);
    std::erase_if(study.cells, [&](const StudyCell& cell) { return left(cell.model); });
    if (models.size() < 2)
        throw OptionError("--curves", "the study has " + joined(all, ", ") +
                                          "; this figure compares two of " + joined(curves, ", "));
    return study;
}

/// The study of a call: `study FOLDER` is `study --out FOLDER`.
StudyArguments placed(StudyArguments a) {
    if (!a.out.empty()) return a;
    if (a.preset().empty())
        throw OptionError("preset", "give the folder of a study, or an experiment and --out");
    if (!core::isStudyFolder(a.preset()))
        throw OptionError("--out", "is missing: the folder of the new study; '" + a.preset() +
                                       "' is no folder of a study that could be resumed");
    a.out = std::exchange(a.preset(), {});
    return a;
}

int study(const StudyArguments& given, const Call&) {
    const auto a = placed(given);
    beginComputing(a.threads);
    const auto stop = stopOnSignals();
    const bool show = a.show->count() > 0;
    if (!a.preset().empty()) {
        core::createStudy(a.out, planOf(a));
    } else if (!a.models.empty() || !a.sizes.empty() || !a.vary.empty() || !a.settings.empty()) {
        throw OptionError("preset",
                          "give a preset with --models, --sizes, --vary or --set; without a "
                          "preset, the study in --out is resumed as planned");
    }
    const auto begun = core::readStudy(a.out);
    if (a.slurm > 0) {
        std::cout << core::slurmScript(begun, {a.slurm, a.slurmNodes, a.slurmGpus}, ownProgram());
        return 0;
    }
    int exit = 0;
    if (!a.figure.empty() && !isPicture(a.figure))
        throw OptionError("--figure", "'" + a.figure + "' must end in .png, .svg or .pdf");
    if (!show) {
        const auto devices = core::deviceList(a.device);
        if (devices.size() > 1 && a.jobs > 1)
            throw OptionError("--jobs", std::to_string(a.jobs) + " runs at a time would share " +
                                            core::joinedDevices(devices) +
                                            "; give --jobs 1, or --device with one name");
        if (a.jobs > 1) {
            std::vector<std::string> arguments = {"study", "--out", a.out, "--device", a.device};
            if (!a.shard.empty()) arguments.insert(arguments.end(), {"--shard", a.shard});
            if (a.retry) arguments.emplace_back("--retry");
            const int threads =
                a.threads > 0 ? a.threads : std::max(1, core::usableCores() / a.jobs);
            arguments.insert(arguments.end(), {"--threads", std::to_string(threads), "--quiet"});
            exit = runSideBySide(arguments, a.jobs, stop);
        } else {
            workAlone(a, stop);
        }
    }
    const auto study = show ? begun : core::readStudy(a.out);
    const auto measure = measureOf(a.asked, study);
    if (!a.csv.empty()) core::writeTextFile(a.csv, core::studyCsv(study, measure));
    if (!a.latex.empty()) core::writeTextFile(a.latex, core::studyLatex(study, measure));
    if (a.json)
        std::cout << studyJson(study, measure).dump(2) << "\n";
    else if (!a.quiet && a.asked.value("runs", false))
        printRuns(study, measure);
    else if (!a.quiet)
        printTable(study, measure);
    if (!a.figure.empty()) {
        const auto drawn = drawnOf(a.asked, study);
        auto beside = core::publishedCurves(drawn.plan, measure);
        for (auto& point : core::referenceCurves(drawn.plan, measure))
            beside.push_back(std::move(point));
        draw(a.figure,
             wire::StudyFigure{drawn, drawn.plan.preset + ", " + core::splitTitle(drawn, measure),
                               measure.metric, core::studyPoints(drawn, measure), std::move(beside),
                               core::lookOf(a.asked, core::studyLookFields())},
             a.paper);
        std::cerr << "wrote " << plainName(a.figure) << "\n";
    }
    if (exit == 0 && study.count(CellState::Failed) > 0) exit = kExitFailed;
    return exit;
}

void studyOptions(CLI::App& command, StudyArguments& a) {
    declareQuestion(command, core::kStudyView, a.asked, nullptr);
    command.get_option("path")->required(false)->description(
        "experiment of a new study, or the folder of a study to resume");
    command.get_option("--curves")->delimiter(',');
    a.show = command.get_option("--show");
    command.add_option("--models", a.models, "models of the preset, comma-separated")
        ->delimiter(',');
    command.add_option("--sizes", a.sizes, "training sizes, comma-separated")->delimiter(',');
    command.add_option("--seeds", a.seeds, "number of seeds, counted from 0, or a list: 3,7");
    command.add_option("--vary", a.vary, "KEY=VALUE,VALUE... for any option; can be repeated")
        ->take_all();
    command.add_option("--set", a.settings, "KEY=VALUE for every run")->take_all();
    command.add_flag("--same-data", a.sameData, "use the same data for all seeds");
    command.add_option("--out", a.out, "folder of a new study");
    command.add_option("--shard", a.shard, "i/n: only every n-th run, starting with the i-th");
    command.add_option("--jobs", a.jobs, "number of parallel processes")->check(CLI::Range(1, 256));
    command.add_flag("--retry", a.retry, "retry failed runs");
    command.add_flag("--quiet", a.quiet, "print no table at the end");
    command.add_option("--slurm", a.slurm, "print the Slurm script of a job array with N tasks")
        ->check(CLI::Range(1, 10000));
    command.add_option("--slurm-nodes", a.slurmNodes, "nodes that train one run together")
        ->check(CLI::Range(1, 10000));
    command.add_option("--slurm-gpus", a.slurmGpus, "GPUs of each node, a process for each")
        ->check(CLI::Range(0, 1024));
    command.add_option("--csv", a.csv, "write the table as .csv");
    command.add_option("--latex", a.latex, "write the table as LaTeX");
    command.add_option("--figure", a.figure, "draw the curves: .png, .svg or .pdf");
    command.add_option("--device", a.device, "auto, cpu, cuda:0, or a list for each run");
    command.add_option("--threads", a.threads, "CPU threads per process")
        ->check(CLI::Range(0, 1024));
}

}  // namespace

Command studyCommand() {
    return commandOf(core::kStudyView, "compares models, training sizes, seeds and option values",
                     studyOptions, study);
}

}  // namespace relascope::cli
