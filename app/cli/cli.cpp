// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "app/cli/build_facts.h"
#include "app/cli/commands.h"
#include "app/cli/launched_ranks.h"
#include "app/cli/manual.h"
#include "train/devices.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::cli {
namespace {

// Adds "did you mean" to CLI11's complaint about an unknown word.
int usageError(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::cerr << "relascope-cli: " << error.what() << "\n";
    std::vector<std::string> known;
    for (const auto* command : app.get_subcommands({})) known.push_back(command->get_name());
    if (app.get_subcommands().empty()) {
        if (argc > 1 && argv[1][0] != '-')
            std::cerr << unknownName("command", argv[1], known) << "\n";
        std::cerr << "relascope-cli --help lists the commands\n";
    } else {
        const auto* command = app.get_subcommands().front();
        std::vector<std::string> options;
        for (const auto* option : command->get_options())
            for (const auto& name : option->get_lnames()) options.push_back("--" + name);
        for (int i = 2; i < argc; ++i) {
            const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
            if (word.rfind("--", 0) == 0 &&
                std::find(options.begin(), options.end(), word) == options.end())
                std::cerr << unknownName("option", word, options) << "\n";
        }
        std::cerr << "relascope-cli " << command->get_name() << " --help lists its options\n";
    }
    return kExitUsage;
}

const std::string kEditHelp =
    "a file of edits, words as \"layer 2 relation 3 zero\", or none; can be repeated";

// The options that choose an input of a model.
void sampleOptions(CLI::App& command, cli::SampleArguments& a) {
    command.add_option("--sample", a.sample, "example number")->check(CLI::NonNegativeNumber);
    command.add_option("--split", a.split, "split the example is from");
    command.add_option("--image", a.image, "a PNG or JPEG file instead of an example of the data");
    command.add_option("--text", a.text, "a text instead of an example of the data");
    command.add_option("--tokenizer", a.tokenizer,
                       "tokenizer for --text: gpt2, or a tokenizer file or folder");
    command.add_option("--tokens", a.tokens, "token ids of the input (source) sequence")
        ->delimiter(',');
    command.add_option("--target", a.target, "token ids of the target sequence")->delimiter(',');
    command
        .add_option("--reference", a.reference,
                    "reference input N stored with a checkpoint, from 1")
        ->check(CLI::Range(1, 100000));
    command.add_option("--random", a.random, "a random input drawn with that seed")
        ->check(CLI::NonNegativeNumber);
}

// What lens and attribute have in common.
void answerOptions(CLI::App& command, cli::LensArguments& a) {
    command.add_option("path", a.path, "run or checkpoint folder")->required();
    sampleOptions(command, a);
    command.add_option("--checkpoint", a.checkpoint, "checkpoint of a run: last, best, or a step");
    command.add_option("--out", a.out, ".csv, .png, .svg or .pdf");
    command.add_option("--device", a.device, "auto, cpu, cuda:0");
    command.add_option("--edit", a.edits, kEditHelp)->take_all();
}

}  // namespace

std::string programName(const std::string& program, int argc, char** argv) {
    const std::string word = argc > 1 ? argv[1] : "";
    const bool command =
        !word.empty() && word.size() <= 12 &&
        std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return command ? program + " " + word : program;
}

int printVersion(int argc, char** argv, const std::string& qt) {
    const BuildFacts facts = buildFacts(qt);
    const bool json = argc == 3 && std::string(argv[2]) == "--json";
    if (argc > 2 && !json) {
        std::cerr << "relascope-cli: --version: '" << argv[2] << "' is not --json\n";
        return kExitUsage;
    }
    std::cout << (json ? versionJson(facts) : versionText(facts));
    return 0;
}

int runCommandLine(int argc, char** argv, const Renderers& renderers) {
    if (argc > 1 && std::string(argv[1]) == "--version") return printVersion(argc, argv);
    CLI::App app("Relascope: train relational Transformers and inspect them");
    app.set_version_flag(
        "--version",
        [] {
            std::string text = versionText(buildFacts());
            text.pop_back();  // CLI11 ends the line
            return text;
        },
        "print version, commit and libraries (--json: as one JSON object)");
    app.require_subcommand(1);
    bool json = false;
    int threads = 0;
    app.add_option("--threads", threads, "CPU threads (0: one per core)")
        ->check(CLI::Range(0, 1024));

    const auto list = [&](const char* name, const char* help) {
        auto* command = app.add_subcommand(name, help);
        command->add_flag("--json", json, "print one JSON object on stdout");
        return command;
    };
    auto* presets = list("presets", "lists the experiments and their models");
    auto* datasets = list("datasets", "lists the data that can be generated");
    auto* devices = list("devices", "lists the devices, and why a device cannot be used");

    cli::TrainArguments t;
    auto* train = list("train", "trains a preset, or resumes a run");
    train->add_option("preset", t.preset, "experiment, as listed by `presets`");
    train->add_option("--model", t.model, "one of the preset's models");
    train->add_option("--set", t.settings, "KEY=VALUE for any option: model.d_model=64")
        ->take_all();
    train->add_option("--data", t.data, ".npz images, or text files and token shards");
    train->add_option("--epochs", t.epochs, "total epochs")->check(CLI::Range(1, 1000000));
    train->add_option("--steps", t.steps, "total steps")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}));
    train->add_option("--seed", t.seed, "one seed instead of the preset's")
        ->check(CLI::NonNegativeNumber);
    // An empty variable of a script is not the same as no option.
    const CLI::Validator named(
        [](const std::string& text) {
            return text.empty() ? "is empty; leave it out or name one" : "";
        },
        "");
    train->add_option("--device", t.device, "auto, cpu, cuda:0")->check(named);
    train->add_option("--out", t.out, "run folder");
    train->add_option("--capture-every", t.captureEvery, "steps between captures")
        ->check(CLI::NonNegativeNumber);
    train->add_option("--resume", t.resume, "run folder to resume");
    train
        ->add_option("--edit", t.edits,
                     kEditHelp + ": trains with these edits from the next step on")
        ->take_all();
    train->add_option("--threads", t.threads, "CPU threads")->check(CLI::Range(0, 1024));
    train->add_option("--ranks", t.ranks, "processes on this machine that train one model together")
        ->check(CLI::Range(1, 1024));
    train->add_option("--devices", t.devices, "a rank for each: cuda:0,cuda:1 or cpu,cpu")
        ->check(named);
    train
        ->add_option("--rendezvous", t.rendezvous,
                     "HOST:PORT of rank 0, for ranks of several machines")
        ->check(named);
    train->add_option("--restarts", t.restarts, "how often a run that lost a rank is resumed")
        ->check(CLI::Range(0, 1000));
    train
        ->add_option("--rank-timeout", t.rankTimeout,
                     "seconds after which a rank that does not answer is lost")
        ->check(CLI::Range(1, 86400));
    train->add_option("--tensorboard", t.tensorboard,
                      "folder where TensorBoard follows the run while it trains");
    cli::RankArguments r;
    auto* rank = list("rank", "takes part in the run of the process that started this one");
    rank->group("");  // not for people
    rank->add_option("--device", r.device, "cpu, cuda:0");
    rank->add_option("--threads", r.threads, "CPU threads");

    cli::StudyArguments y;
    auto* study = list("study", "compares models, training sizes, seeds and option values");
    study->add_option("preset", y.preset, "experiment; without one, resume the study in --out");
    study->add_option("--models", y.models, "models of the preset, comma-separated")
        ->delimiter(',');
    study->add_option("--sizes", y.sizes, "training sizes, comma-separated")->delimiter(',');
    study->add_option("--seeds", y.seeds, "number of seeds, counted from 0, or a list: 3,7");
    study->add_option("--vary", y.vary, "KEY=VALUE,VALUE... for any option; can be repeated")
        ->take_all();
    study->add_option("--set", y.settings, "KEY=VALUE for every run")->take_all();
    study->add_flag("--same-data", y.sameData, "use the same data for all seeds");
    study->add_option("--out", y.out, "folder of the study")->required();
    study->add_option("--shard", y.shard, "i/n: only every n-th run, starting with the i-th");
    study->add_option("--jobs", y.jobs, "number of parallel processes")->check(CLI::Range(1, 256));
    study->add_flag("--retry", y.retry, "retry failed runs");
    study->add_flag("--show", y.show, "print the table of finished runs; run nothing");
    study->add_flag("--quiet", y.quiet, "print no table at the end");
    study->add_option("--slurm", y.slurm, "print the Slurm script of a job array with N tasks")
        ->check(CLI::Range(1, 10000));
    study->add_option("--slurm-nodes", y.slurmNodes, "nodes that train one run together")
        ->check(CLI::Range(1, 10000));
    study->add_option("--slurm-gpus", y.slurmGpus, "GPUs of each node, a process for each")
        ->check(CLI::Range(0, 1024));
    study->add_option("--metric", y.metric,
                      "metric of the table: accuracy, sequence_accuracy, loss ...");
    study->add_option("--split", y.split, "split of the table: test, hexos, validation ...");
    study->add_option("--csv", y.csv, "write the table as .csv");
    study->add_option("--latex", y.latex, "write the table as LaTeX");
    study->add_option("--figure", y.figure, "draw the curves: .png, .svg or .pdf");
    study->add_option("--device", y.device, "auto, cpu, cuda:0, or a list for each run");
    study->add_option("--threads", y.threads, "CPU threads per process")
        ->check(CLI::Range(0, 1024));

    cli::EvalArguments e;
    auto* eval = list("eval", "evaluates a run or a checkpoint");
    eval->add_option("path", e.path, "run or checkpoint folder")->required();
    eval->add_option("--data", e.data, ".npz images, or text files and token shards");
    eval->add_option("--split", e.split, "train, validation, pentos, hexos or stripes");
    auto* which = eval->add_option("--checkpoint", e.checkpoint, "last, best, or a step");
    eval->add_option("--step", e.step, "the weights of a step, or those kept nearest to it")
        ->check(CLI::NonNegativeNumber)
        ->excludes(which);
    eval->add_option("--device", e.device, "auto, cpu, cuda:0");
    eval->add_option("--batch-size", e.batch, "batch size")->check(CLI::Range(1, 1048576));
    eval->add_option("--edit", e.edits, kEditHelp)->take_all();

    cli::PointsArguments o;
    auto* points = list("points", "lists the hook points of a model, where edits can be made");
    points->add_option("path", o.path, "run or checkpoint folder")->required();
    points->add_option("--checkpoint", o.checkpoint, "of a run: last, best, or a step");

    cli::AblateArguments b;
    auto* ablate = list("ablate", "takes each part of a model out and measures what is lost");
    ablate->add_option("path", b.path, "run folder")->required();
    ablate->add_option("--checkpoint", b.checkpoint, "last, best, or a step");
    ablate->add_option("--split", b.split, "split to measure on");
    ablate->add_option("--examples", b.examples, "number of examples, at most")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000000}));
    ablate->add_option("--how", b.how, "zero, mean, resample")->delimiter(',');
    ablate->add_option("--what", b.what, "heads, relations, columns, paths, mlp, symbols")
        ->delimiter(',');
    ablate->add_option("--metric", b.metric, "accuracy, loss or mean_error");
    ablate->add_flag("--cumulative", b.cumulative, "then take out more and more, least first");
    ablate->add_flag("--pairs", b.pairs, "and the pairs of the ten strongest parts");
    ablate->add_option("--out", b.out, ".csv, .tex, .json, .png, .svg or .pdf");
    ablate->add_option("--device", b.device, "auto, cpu, cuda:0");
    ablate->add_option("--edit", b.edits, kEditHelp)->take_all();

    cli::PatchArguments h;
    auto* patch = list("patch", "puts parts of one input's pass into another's");
    patch->add_option("path", h.path, "run or checkpoint folder")->required();
    patch->add_option("--clean", h.clean, "input A: sample:N, text:T, tokens:1,2, image:FILE")
        ->required();
    patch->add_option("--corrupt", h.corrupt, "input B, which A's parts are put into")->required();
    patch->add_option("--split", h.split, "split that samples are from");
    patch->add_option("--checkpoint", h.checkpoint, "of a run: last, best, or a step");
    patch->add_option("--metric", h.metric,
                      "auto, logit:A, probability:A, logit-difference:A,B; @P for a position");
    patch->add_option("--over", h.over, "resid, attn, mlp, heads, relations, cells:LAYER:RELATION")
        ->delimiter(',');
    patch->add_flag("--estimate", h.estimate, "first-order estimates alone");
    patch->add_flag("--noising", h.noising, "exchange A and B");
    patch->add_option("--out", h.out, ".csv, .png, .svg or .pdf");
    patch->add_option("--device", h.device, "auto, cpu, cuda:0");
    patch->add_option("--edit", h.edits, kEditHelp)->take_all();

    cli::InspectArguments i;
    auto* inspect = list("inspect", "draws or prints the relations and attention of a model");
    inspect->add_option("path", i.path, "run or checkpoint folder")->required();
    sampleOptions(*inspect, i);
    inspect
        ->add_option("--step", i.step,
                     "a captured step of a captured sample, else the weights kept nearest to it")
        ->check(CLI::NonNegativeNumber);
    inspect->add_option("--layer", i.layer, "layer, from 1")->check(CLI::Range(1, 1000));
    inspect->add_option("--kind", i.kind, "relation, attention-ra, attention-sa or symbols");
    inspect->add_option("--index", i.index, "index of the relation or head, from 1")
        ->check(CLI::Range(1, 100000));
    inspect->add_option("--source", i.source, "token i, from 0 (0 is the class token)")
        ->check(CLI::NonNegativeNumber);
    inspect->add_flag("--along", i.along,
                      "the map, the cell --source, --to, and an answer at every kept step");
    inspect->add_option("--to", i.to, "with --along: token j of the cell, from 0")
        ->check(CLI::NonNegativeNumber);
    inspect->add_option("--answer", i.answer,
                        "with --along: a class, token or id, else the likeliest");
    inspect->add_option("--out", i.out, ".png, .svg, .pdf or .csv");
    inspect->add_option("--device", i.device, "auto, cpu, cuda:0");
    inspect->add_option("--edit", i.edits, kEditHelp)->take_all();
    inspect->add_option("--show", i.show, "with edits: after, before or difference")
        ->check(CLI::IsMember({"after", "before", "difference"}));

    cli::LensArguments x;
    auto* lens = list("lens", "shows what a model would answer after each layer (logit lens)");
    answerOptions(*lens, x);
    lens->add_option("--position", x.position,
                     "that position alone, from 0; negative numbers count from the end");
    lens->add_option("--top", x.top, "number of answers")->check(CLI::Range(1, 1000));
    lens->add_option("--answer", x.answers,
                     "also show the probability of this class, token or id; can be repeated")
        ->take_all();

    cli::LensArguments z;
    auto* attribute = list("attribute", "shows what each part of a model adds to an answer");
    answerOptions(*attribute, z);
    attribute->add_option("--logit", z.logit, "the answer: a class, the text of a token, or an id")
        ->required();
    attribute->add_option("--minus", z.minus, "an answer whose logit is taken off");
    attribute->add_option("--position", z.position,
                          "position, from 0; negative numbers count from the end (-1)");

    cli::DataArguments d;
    auto* data = list("data", "writes generated data as .npz");
    data->add_option("preset", d.preset, "experiment that defines the data")->required();
    data->add_option("--count", d.count, "examples")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000000}));
    data->add_option("--seed", d.seed, "random seed")->check(CLI::NonNegativeNumber);
    data->add_option("--family", d.family, "pentos, hexos or stripes");
    data->add_option("--set", d.settings, "data.KEY=VALUE")->take_all();
    data->add_option("--out", d.out, ".npz file")->required();

    std::vector<std::string> folders;
    std::string device = "cpu", models;
    auto* verify = list("verify", "verifies a model against stored reference outputs");
    verify->add_option("folder", folders, "config.json, model.safetensors and io.safetensors")
        ->required();
    verify->add_option("--models", models,
                       "folder of the models that cases of edits name (default: two levels up)");
    verify->add_option("--device", device, "cpu or cuda:0");

    std::string path, in, out;
    auto* info =
        list("info", "prints the contents of a checkpoint or run, read from the headers only");
    info->add_option("path", path, "a weights file, a checkpoint folder or a run folder")
        ->required();
    auto* convert = list("convert", "converts a checkpoint to another format");
    convert->add_option("in", in, "a weights file or a checkpoint folder")->required();
    convert
        ->add_option("out", out,
                     ".safetensors, .pt, or a folder (config.json and model.safetensors)")
        ->required();

    cli::ExportArguments w;
    auto* exports =
        app.add_subcommand("export", "writes the numbers and maps of a run for other programs");
    exports->add_option("run", w.run, "run folder")->required();
    exports->add_option("--tensorboard", w.tensorboard, "folder of TensorBoard: --logdir");
    exports->add_option("--csv", w.csv, "write every measured point as .csv");
    exports->add_option("--json", w.json, "write options, points and notes as .json");

    cli::TokenizeArguments k;
    auto* tokenize = list("tokenize", "converts text to token ids, or back");
    tokenize->add_option("file", k.file, "a text file (also .gz), or - for standard input")
        ->required();
    tokenize->add_option("--tokenizer", k.tokenizer, "gpt2, or a tokenizer file or folder");
    tokenize->add_flag("--decode", k.decode, "convert token ids to text");

    cli::GenerateArguments g;
    auto* generate = list("generate", "continues a text with a language model");
    generate->add_option("path", g.path, "run or checkpoint")->required();
    generate->add_option("--prompt", g.prompt, "the text to continue");
    generate->add_option("--prompt-file", g.promptFile,
                         "a file with the prompt, or - for standard input");
    generate->add_option("--tokens", g.options.tokens, "number of tokens to generate");
    generate->add_option("--temperature", g.options.temperature, "0: greedy decoding");
    generate->add_option("--top-k", g.options.top_k, "sample from the K most likely tokens");
    generate->add_option("--top-p", g.options.top_p,
                         "sample from the smallest set of tokens with this total probability");
    generate->add_option("--seed", g.options.seed,
                         "random seed; the same seed gives the same text");
    generate->add_option("--stop", g.options.stop, "stop after this text");
    generate->add_option("--tokenizer", g.tokenizer, "gpt2, or a tokenizer file or folder");
    generate->add_option("--checkpoint", g.checkpoint,
                         "checkpoint of a run: last, best, or a step");
    generate->add_flag("--bf16", g.bfloat16, "use bfloat16 weights: faster, less exact");
    generate->add_option("--device", g.device, "auto, cpu, cuda:0");
    generate->add_option("--edit", g.edits, kEditHelp)->take_all();

    std::vector<std::string> names;
    double seconds = 8.0;
    std::string benchDevice = "cpu";
    auto* bench = list("bench", "runs the benchmarks");
    bench->add_option("name", names, "names of benchmarks (none: all)");
    bench->add_option("--device", benchDevice, "auto, cpu, cuda:0");
    bench->add_option("--seconds", seconds, "minimum time per benchmark, in seconds")
        ->check(CLI::Range(0.1, 3600.0));
    for (auto* command : {eval, inspect, lens, attribute, verify, bench, generate, ablate, patch})
        command->add_option("--threads", threads, "CPU threads")->check(CLI::Range(0, 1024));

    std::string program, form;
    auto* manual = app.add_subcommand("manual", "prints a manual page or shell completion");
    manual->group("");  // for the installation
    manual->add_option("program", program, "relascope or relascope-cli")->required();
    manual->add_option("form", form, "man, bash, zsh or fish")->required();

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return usageError(app, error, argc, argv);
    }
    const cli::Drawing drawing{renderers, argc, argv};
    try {
        if (*manual) return cli::printManual(app, program, form);
        if (*presets) return cli::listPresets(json);
        if (*datasets) return cli::listDatasets(json);
        if (*info) return cli::info(path, json);
        if (*exports) return cli::exportRun(w);
        if (*convert) return cli::convert(in, out, json);
        if (*data) return cli::makeData(d);
        k.json = json;
        if (*tokenize) return cli::tokenize(k);
        if (*rank) return cli::rank(r);
        if (*train) t.json = json;
        // Before any thread starts: a rank other than 0 leaves signals to rank 0.
        if (*train && cli::isOtherRank(t.rendezvous)) return cli::train(t);
        stopOnSignals();
        core::initDevices(*train ? t.threads : *study ? y.threads : threads);
        t.json = e.json = i.json = x.json = z.json = g.json = y.json = o.json = b.json = h.json =
            json;
        if (*devices) return cli::listDevices(json);
        if (*train) return cli::train(t);
        if (*study) return cli::study(y, drawing);
        if (*eval) return cli::evaluate(e);
        if (*generate) return cli::generate(g);
        if (*inspect) return cli::inspect(i, drawing);
        if (*lens) return cli::lens(x, drawing);
        if (*attribute) return cli::attribute(z, drawing);
        if (*points) return cli::points(o);
        if (*ablate) return cli::ablate(b, drawing);
        if (*patch) return cli::patch(h, drawing);
        if (*verify) return cli::verify(folders, models, core::resolveDevice(device), json);
        return cli::bench(names, core::resolveDevice(benchDevice), seconds, json);
    } catch (const Cancelled&) {
        std::cerr << "relascope-cli: interrupted\n";
        return kExitInterrupted;
    } catch (const OptionError& error) {
        std::cerr << "relascope-cli: " << error.what() << "\n";
        return kExitUsage;
    } catch (const std::exception& error) {
        std::cerr << "relascope-cli: " << userMessage(error) << "\n";
    }
    return kExitFailed;
}

}  // namespace relascope::cli
