// SPDX-License-Identifier: GPL-3.0-or-later
// presets, datasets, devices, verify, bench, data: commands that print.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/verify.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/plain_output.h"
#include "app/cli/run_text.h"
#include "bench/benchmark.h"
#include "data/minimal_pairs.h"
#include "data/rule_prompts.h"
#include "datasets/examples.h"
#include "datasets/generators/relational_games.h"
#include "datasets/readers/image_folder.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "model/kernels/plugin.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/pair_data.h"
#include "options/presets.h"
#include "train/devices.h"
#include "train/find_cuda.h"
#include "types/data_kind.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

struct ListArguments {
    bool json = false;
};

constexpr std::int64_t kSearchedForAnswers = 200;  // number of examples
constexpr std::int64_t kUsualExamples = 1000;

struct DataArguments {
    std::string preset, out;
    std::vector<std::string> settings;
    std::int64_t count = 0, seed = 0;
    std::string family;
    std::string tokenizer, ruleTokens = "auto";
    std::int64_t examples = 10;
    bool paper = false;
};

struct VerifyArguments {
    std::vector<std::string> folders;
    std::string models, device = "cpu";
    bool json = false;
};

struct BenchArguments {
    std::vector<std::string> names;
    std::string device = "cpu";
    double seconds = 8.0;
    bool json = false;
};

using Json = nlohmann::ordered_json;

Json finite(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

int listPresets(const ListArguments& a, const Call&) {
    const bool json = a.json;
    Json list = Json::array();
    for (const auto& preset : core::presets()) {
        if (!json)
            print("%-32s %s\n%32s models: %s\n", preset.name.c_str(), preset.help.c_str(), "",
                  joined(preset.variants).c_str());
        Json models = Json::array();
        for (const auto& variant : preset.variants) {
            const auto options = core::presetOptions(preset.name, variant);
            models.push_back({{"name", variant},
                              {"parameters", core::parameterCount(options.model)},
                              {"model", core::modelText(options.model)}});
        }
        list.push_back({{"name", preset.name},
                        {"family", preset.family},
                        {"title", preset.title},
                        {"help", preset.help},
                        {"notes", preset.notes},
                        {"models", models}});
    }
    if (json) std::cout << list.dump(2) << "\n";
    return 0;
}

int listDatasets(const ListArguments& a, const Call&) {
    const bool json = a.json;
    Json list = Json::array();
    for (const auto& entry : relascope::datasets::listDatasets()) {
        if (!json)
            print("%-16s %s\n%16s families: %s; labels: %s\n", entry.name.c_str(),
                  entry.help.c_str(), "", joined(entry.families).c_str(),
                  joined(entry.classNames).c_str());
        list.push_back({{"kind", entry.kind},
                        {"name", entry.name},
                        {"title", entry.title},
                        {"help", entry.help},
                        {"attributes", dataKind(entry.kind).attributes},
                        {"families", entry.families},
                        {"labels", entry.classNames}});
    }
    if (json) std::cout << list.dump(2) << "\n";
    return 0;
}

Json deviceJson(const core::DeviceInfo& device, const core::DeviceMemory& memory) {
    Json object = {{"name", device.name},
                   {"title", device.title},
                   {"usable", device.usable},
                   {"reason", device.reason}};
    const auto known = [&](const char* key, const auto& value) {
        if (value != std::decay_t<decltype(value)>()) object[key] = value;
    };
    known("memory_total", memory.total > 0 ? memory.total : device.memory);
    known("memory_free", memory.free);
    known("compute_capability", device.capability);
    known("multiprocessors", device.multiprocessors);
    known("driver", device.driver);
    known("runtime", device.runtime);
    if (device.name == "cpu") return object;
    known("library", core::torchCudaFile());
    const bool serves = device.kernelsProblem.empty();
    object["kernels"] = serves ? core::kernels::kernelPluginFile() : "";
    object["kernels_reason"] = device.kernelsProblem;
    const auto found = core::kernelProblems(device);
    object["kernel_types"] = core::kernelTypes(device, found);
    for (const auto& problem : {found.float32, found.tensor})
        if (!problem.empty()) object["kernel_problems"].push_back(problem);
    object["graphs_reason"] = core::graphsProblem(device);
    return object;
}

int listDevices(const ListArguments& a, const Call&) {
    const bool json = a.json;
    Json list = Json::array();
    for (const auto& device : core::devices()) {
        const auto memory = device.usable ? core::deviceMemory(device.name) : core::DeviceMemory{};
        core::checkKernels(device);
        list.push_back(deviceJson(device, memory));
        if (json) continue;
        print("%-8s %s", device.name.c_str(), joined(core::deviceFacts(device, memory)).c_str());
        for (const auto& text : {core::attentionText(device), core::stepsText(device)})
            if (!text.empty()) print("; %s", text.c_str());
        print("\n");
    }
    if (const auto& file = core::torchCudaFile(); !json && !file.empty())
        print("LibTorch's CUDA library: %s\n", file.c_str());
    if (json) std::cout << list.dump(2) << "\n";
    return 0;
}

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

void applySettings(RunOptions& options, const std::vector<std::string>& settings) {
    for (const auto& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos)
            throw OptionError("--set", "'" + setting + "' is not KEY=VALUE");
        core::setOption(options, setting.substr(0, equals), setting.substr(equals + 1));
    }
}

constexpr const char* kRulesInContext = "rules-in-context";
constexpr std::int64_t kUsualRulePairs = 100;  // of each rule

/// Writes prompts of the rules ABA and ABB as minimal pairs, or the right ones as a text.
int makeRules(const DataArguments& arguments) {
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
                                          static_cast<std::uint64_t>(arguments.seed)};
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
    return 0;
}

/// Writes minimal pairs as JSON lines.
int makePairs(const DataArguments& arguments) {
    if (!arguments.out.ends_with(".jsonl"))
        throw OptionError("--out", "'" + arguments.out +
                                       "' must end in .jsonl, the format that minimal pairs are "
                                       "written in");
    RunOptions options;
    options.data = core::pairData();
    options.data.seed = arguments.seed;
    if (arguments.count > 0) options.data.train_size = arguments.count;
    applySettings(options, arguments.settings);
    const auto data = core::asPairs(datasets::openData(options.data).validation);
    std::string lines;
    for (std::int64_t i = 0; i < data->size(); ++i)
        lines += core::pairLine(data->pair(i), i) + "\n";
    core::writeTextFile(arguments.out, lines);
    std::cerr << "wrote " << data->size() << " pairs to " << plainName(arguments.out) << "\n";
    return 0;
}

int makeData(const DataArguments& arguments, const Call&) {
    if (arguments.preset == core::pairData().kind) return makePairs(arguments);
    if (arguments.preset == kRulesInContext) return makeRules(arguments);
    if (!isPicture(arguments.out) && !arguments.out.ends_with(".npz"))
        throw OptionError("--out",
                          "'" + arguments.out +
                              "' must end in .npz, the format that data are written in, or in "
                              ".png, .svg or .pdf for an example of each task");
    requireDrawing(arguments.out);
    RunOptions options = core::presetOptions(arguments.preset);
    applySettings(options, arguments.settings);
    if (!arguments.family.empty()) core::setOption(options, "data.family", arguments.family);
    options.data.seed = arguments.seed;
    options.data.train_size = arguments.count > 0 ? arguments.count : kUsualExamples;
    options.data.path.clear();
    options.check();
    if (isPicture(arguments.out)) {
        drawTasks(options, arguments.out, arguments.paper);
        std::cerr << "wrote " << plainName(arguments.out) << "\n";
        return 0;
    }
    const auto stop = stopOnSignals();
    const auto splits = datasets::openData(options.data);
    ProgressLine line;
    datasets::writeNpz(arguments.out, *splits.train, [&](double fraction) {
        line.show(fraction, "writing " + arguments.out);
        return !stop.stop_requested();
    });
    line.say("wrote " + std::to_string(options.data.train_size) + " examples to " + arguments.out);
    return 0;
}

int verify(const VerifyArguments& a, const Call&) {
    const auto& [folders, models, given, json] = a;
    const auto device = core::resolveDevice(given);
    bool ok = true;
    Json all = Json::array();
    for (const auto& folder : folders) {
        const auto report = core::verifyFolder(folder, device, models, datasets::readImageFile);
        Json keys = Json::array();
        for (const auto& line : report.lines) {
            if (!json)
                print("%-72s abs %9.3g  rel %9.3g  %s%s\n", plainName(line.name).c_str(),
                      line.absolute, line.relative, line.ok ? "ok" : "NOT OK",
                      line.note.empty() ? "" : (" (" + line.note + ")").c_str());
            keys.push_back({{"name", line.name},
                            {"abs", finite(line.absolute)},
                            {"rel", finite(line.relative)},
                            {"ok", line.ok}});
        }
        if (!json)
            print("%s: %s, %zu compared, largest difference %.3g\n", plainName(folder).c_str(),
                  report.ok ? "verified" : "NOT verified", report.lines.size(), report.worst);
        Json object = {{"ok", report.ok}, {"worst", finite(report.worst)}, {"keys", keys}};
        if (folders.size() > 1) object["folder"] = folder;
        all.push_back(object);
        ok = ok && report.ok;
    }
    if (json) std::cout << (folders.size() == 1 ? all[0] : all).dump(2) << "\n";
    return ok ? 0 : kExitFailed;
}

void printBenchmark(const core::BenchmarkResult& r) {
    print("%-20s", r.name.c_str());
    if (r.steps > 0)
        print(" step %8.1f ms (best %.1f, %d steps), forward %.1f ms,", r.trainStepMs,
              r.trainStepBestMs, r.steps, r.forwardMs);
    for (const auto& [key, value] : r.figures) print(" %s %.4g,", key.c_str(), value);
    print(" %lld parameters, %s relations, %.0f MB on %s\n", static_cast<long long>(r.parameters),
          r.form.c_str(), r.peakRssMb, r.device.c_str());
}

int bench(const BenchArguments& a, const Call&) {
    const auto device = core::resolveDevice(a.device);
    // A benchmark can end at once, as there is nothing to save.
    const std::stop_callback end(stopOnSignals(), [] { _exit(kExitInterrupted); });
    Json object = Json::object();
    for (const auto& name : a.names.empty() ? core::benchmarkNames() : a.names) {
        const auto r = core::runBenchmark(name, device, a.seconds);
        if (!a.json) printBenchmark(r);
        Json line = {
            {"peak_rss_mb", r.peakRssMb}, {"parameters", r.parameters},     {"form", r.form},
            {"device", r.device},         {"threads", core::threadCount()}, {"steps", r.steps}};
        if (r.steps > 0) {
            line["train_step_ms"] = r.trainStepMs;
            line["train_step_best_ms"] = r.trainStepBestMs;
            line["forward_ms"] = r.forwardMs;
        }
        for (const auto& [key, value] : r.figures) line[key] = value;
        object[name] = line;
    }
    if (a.json) std::cout << object.dump(2) << "\n";
    return 0;
}

void dataOptions(CLI::App& command, DataArguments& a) {
    command
        .add_option("preset", a.preset,
                    "experiment that defines the data, minimal-pairs, or rules-in-context")
        ->required();
    command
        .add_option(
            "--count", a.count,
            "examples (1,000); of minimal pairs those of each phenomenon (60), of rules in context "
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
    command
        .add_option("--out", a.out,
                    ".npz, of minimal pairs and rules .jsonl, of rules .txt; or .png, .svg, .pdf: "
                    "an example of both answers of "
                    "every task")
        ->required();
}

void verifyOptions(CLI::App& command, VerifyArguments& a) {
    command.add_option("folder", a.folders, "config.json, model.safetensors and io.safetensors")
        ->required();
    command.add_option("--models", a.models,
                       "folder of the models that cases of edits name (default: two levels up)");
    command.add_option("--device", a.device, "cpu or cuda:0");
}

void benchOptions(CLI::App& command, BenchArguments& a) {
    command.add_option("name", a.names, "names of benchmarks (none: all)");
    command.add_option("--device", a.device, "auto, cpu, cuda:0");
    command.add_option("--seconds", a.seconds, "minimum time per benchmark, in seconds")
        ->check(CLI::Range(0.1, 3600.0));
}

}  // namespace

Command presetsCommand() {
    return commandOf<ListArguments>(
        "presets", "lists the experiments and their models", [](CLI::App&, ListArguments&) {},
        listPresets);
}

Command datasetsCommand() {
    return commandOf<ListArguments>(
        "datasets", "lists the data that can be generated", [](CLI::App&, ListArguments&) {},
        listDatasets);
}

Command devicesCommand() {
    return commandOf<ListArguments>(
        "devices", "lists the devices, and why a device cannot be used",
        [](CLI::App&, ListArguments&) {}, listDevices, Needs::Threads);
}

Command dataCommand() {
    return commandOf("data", "writes generated data as .npz, or minimal pairs as JSON lines",
                     dataOptions, makeData);
}

Command verifyCommand() {
    return commandOf("verify", "verifies a model against stored reference outputs", verifyOptions,
                     verify, Needs::Threads);
}

Command benchCommand() {
    return commandOf("bench", "runs the benchmarks", benchOptions, bench, Needs::Threads);
}

}  // namespace relascope::cli
