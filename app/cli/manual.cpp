// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "app/cli/manual.h"
#include "app/cli/window_options.h"
#include "bench/benchmark.h"
#include "options/builtin_resources.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "types/error.h"

namespace relascope::cli {
namespace {

std::vector<std::string> presetNames() {
    std::vector<std::string> names;
    for (const auto& preset : core::presets()) names.push_back(preset.name);
    return names;
}

std::vector<std::string> modelNames() {
    std::set<std::string> names;
    for (const auto& preset : core::presets())
        names.insert(preset.variants.begin(), preset.variants.end());
    return {names.begin(), names.end()};
}

/// "data.train_size=" and every other option of any experiment.
std::vector<std::string> settings() {
    std::set<std::string> keys;
    for (const auto& preset : core::presets())
        for (const auto& variant : preset.variants)
            for (const auto& [key, text] :
                 core::optionTexts(core::presetOptions(preset.name, variant)))
                keys.insert(key + "=");
    return {keys.begin(), keys.end()};
}

/// Words that complete an option, where the parser has no list of them. An empty list: no file
/// names either.
const std::map<std::string, std::vector<std::string>>& knownWords() {
    static const std::map<std::string, std::vector<std::string>> words = {
        {"preset", presetNames()},
        {"--model", modelNames()},
        {"--models", modelNames()},
        {"--set", settings()},
        {"bench name", core::benchmarkNames()},
        {"--device", {"auto", "cpu", "cuda:0"}},
        {"--devices", {"cpu,cpu", "cuda:0,cuda:1"}},
        {"--checkpoint", {"last", "best"}},
        {"--split", {"train", "validation", "test", "pentos", "hexos", "stripes"}},
        {"--kind", {"relation", "attention-ra", "attention-sa", "symbols"}},
        {"--how", {"zero", "mean", "resample"}},
        {"--what", {"heads", "relations", "columns", "paths", "mlp", "symbols"}},
        {"--over", {"resid", "attn", "mlp", "heads", "relations"}},
        {"--metric", {"accuracy", "loss"}},
        {"patch --metric", {"auto"}},
        {"--family", {"pentos", "hexos", "stripes"}},
        {"--text", {}},
        {"--prompt", {}},
        {"--stop", {}},
        {"--logit", {}},
        {"--minus", {}},
        {"--answer", {}},
        {"--rendezvous", {}},
        {"--shard", {}},
        {"--seeds", {}},
        {"--sizes", {}},
        {"--vary", settings()},
        {"--tokens", {}},
        {"--target", {}},
        {"--clean", {"sample:", "text:", "tokens:", "image:"}},
        {"--corrupt", {"sample:", "text:", "tokens:", "image:"}},
    };
    return words;
}

/// "{a,b,c}" within a type's name is the list of a CLI::IsMember.
std::vector<std::string> membersIn(const std::string& type) {
    std::vector<std::string> words;
    const auto begin = type.find('{'), end = type.rfind('}');
    if (begin == std::string::npos || end == std::string::npos) return words;
    std::string word;
    for (auto at = begin + 1; at <= end; ++at) {
        if (type[at] != ',' && at != end)
            word += type[at];
        else
            words.push_back(std::exchange(word, {}));
    }
    return words;
}

ManualOption manualOption(const CLI::Option& option, const std::string& command) {
    ManualOption out;
    out.positional = !option.nonpositional();
    for (const auto& name : option.get_snames()) out.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) out.names.push_back("--" + name);
    if (out.positional) out.names.push_back(option.get_name(true));
    out.help = option.get_description();
    out.required = option.get_required();
    out.repeated = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
                   option.get_items_expected_max() > 1;
    if (option.get_items_expected_max() == 0) return out;  // a flag
    const std::string type = option.get_type_name();
    out.choices = membersIn(type);
    const bool number =
        type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT");
    out.value = !out.choices.empty() ? ManualValue::Word
                : number             ? ManualValue::Number
                                     : ManualValue::File;
    if (out.value != ManualValue::File) return out;
    for (const auto& name : {command + " " + out.names.back(), out.names.back()})
        if (const auto found = knownWords().find(name); found != knownWords().end()) {
            out.value = ManualValue::Word;
            out.choices = found->second;
            return out;
        }
    return out;
}

std::vector<ManualOption> manualOptions(const CLI::App& app) {
    std::vector<ManualOption> options;
    for (const auto* option : app.get_options())
        if (!option->get_group().empty()) options.push_back(manualOption(*option, app.get_name()));
    std::stable_partition(options.begin(), options.end(),
                          [](const auto& o) { return o.positional; });
    return options;
}

}  // namespace

ProgramManual manualOf(const CLI::App& app) {
    ProgramManual program;
    program.name = "relascope-cli";
    program.summary = "train relational Transformers and inspect them";
    program.synopsis = {"COMMAND [ARGUMENTS] [OPTIONS]", "COMMAND --help", "--version"};
    program.description = {
        "Trains the models of the Dual Attention Transformer and Abstractor papers and their "
        "baselines, measures them, "
        "and shows the relations r_ij that they compute: the command line of relascope(1), which "
        "opens the window.",
        "Results are printed on standard output, with --json as one JSON object; progress and "
        "messages on standard "
        "error. The experiments that train and study take are listed by `relascope-cli presets`."};
    program.options = manualOptions(app);
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty())
            program.commands.push_back(
                {command->get_name(), command->get_description(), manualOptions(*command)});
    program.otherProgram = "relascope";
    return program;
}

int printManual(const CLI::App& app, const std::string& program, const std::string& form) {
    ProgramManual manual = manualOf(app);
    if (program == "relascope")
        manual = windowManual(manual);
    else if (program != manual.name)
        throw OptionError("manual", "'" + program + "' is neither relascope nor relascope-cli");
    std::string text;
    if (form == "man")
        text = manualPage(manual, core::builtin::version());
    else if (form == "bash")
        text = bashCompletion(manual);
    else if (form == "zsh")
        text = zshCompletion(manual);
    else if (form == "fish")
        text = fishCompletion(manual);
    else
        throw OptionError("manual", "'" + form + "' is none of man, bash, zsh, fish");
    std::cout << text;
    return 0;
}

namespace {

/// Text for roff: backslashes and hyphens are escaped, and a line may not begin with a full stop or
/// an apostrophe.
std::string roff(const std::string& text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '\\')
            out += "\\e";
        else if (letter == '-')
            out += "\\-";
        else
            out += letter;
    }
    if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
    return out;
}

std::string upper(std::string text) {
    for (char& letter : text)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    return text;
}

std::string valueName(const ManualOption& option) {
    switch (option.value) {
        case ManualValue::None:
            return "";
        case ManualValue::Number:
            return "N";
        case ManualValue::Word:
            return "VALUE";
        case ManualValue::File:
            return "PATH";
    }
    return "";
}

std::string optionText(const ManualOption& option) {
    std::string line;
    for (const auto& name : option.names)
        line += (line.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
    if (option.positional)
        line = "\\fI" + roff(upper(option.names.front())) + "\\fR";
    else if (const auto value = valueName(option); !value.empty())
        line += " \\fI" + value + "\\fR";
    return ".TP\n" + line + "\n" + roff(option.help) + "\n";
}

std::string commandText(const ManualCommand& command) {
    std::string usage;
    for (const auto& option : command.options) {
        if (!option.positional) continue;
        const std::string word =
            "\\fI" + roff(upper(option.names.front())) + "\\fR" + (option.repeated ? " ..." : "");
        usage += option.required ? " " + word : " [" + word + "]";
    }
    std::string text = ".SS \"" + roff(command.name) + "\"\n\\fB" + roff(command.name) + "\\fR" +
                       usage + " [\\fIOPTIONS\\fR]\n.PP\n" + upper(command.help.substr(0, 1)) +
                       roff(command.help.substr(1)) + ".\n";
    // That each has --help is said once.
    for (const auto& option : command.options)
        if (option.names.back() != "--help") text += optionText(option);
    return text;
}

struct Entry {
    const char *name, *help;
};

std::string entries(const char* title, std::initializer_list<Entry> list) {
    std::string text = std::string(".SH ") + title + "\n";
    for (const auto& entry : list)
        text += std::string(".TP\n\\fB") + roff(entry.name) + "\\fR\n" + roff(entry.help) + "\n";
    return text;
}

}  // namespace

std::string manualPage(const ProgramManual& program, const std::string& version) {
    std::string text = ".\\\" Made by `relascope-cli manual` from the program's own options.\n";
    text += ".TH " + upper(program.name) + " 1 \"\" \"Relascope " + version + "\" \"Relascope\"\n";
    text +=
        ".SH NAME\n" + roff(program.name) + " \\- " + roff(program.summary) + "\n.SH SYNOPSIS\n";
    for (std::size_t i = 0; i < program.synopsis.size(); ++i)
        text += (i == 0 ? "" : ".br\n") +
                ("\\fB" + roff(program.name) + "\\fR " + roff(program.synopsis[i])) + "\n";
    text += ".SH DESCRIPTION\n";
    for (std::size_t i = 0; i < program.description.size(); ++i)
        text += (i == 0 ? "" : ".PP\n") + roff(program.description[i]) + "\n";
    text += ".SH OPTIONS\n";
    for (const auto& option : program.options) text += optionText(option);
    if (!program.commandsElsewhere) {
        text += ".SH COMMANDS\n";
        for (const auto& command : program.commands) text += commandText(command);
    }
    text += entries("FILES",
                    {{"~/Relascope/runs", "the runs, a folder for each"},
                     {"~/Relascope/studies", "the studies made in the window"},
                     {"~/.config/Relascope", "the window's settings"},
                     {"~/.local/share/relascope/torch",
                      "a virtual environment whose LibTorch is used on GPUs, if there is one"}});
    text += entries("ENVIRONMENT",
                    {{"RELASCOPE_RUNS", "the folder of runs, instead of ~/Relascope/runs"},
                     {"RELASCOPE_STUDIES",
                      "the folder of studies, instead of the folder studies next to the runs"},
                     {"RELASCOPE_TORCH",
                      "a folder site-packages/torch, or a virtual environment, whose LibTorch with "
                      "CUDA is used on GPUs"},
                     {"RELASCOPE_CUDA_PLUGIN",
                      "the program's CUDA kernels, or off: LibTorch's kernels serve alone"},
                     {"RELASCOPE_CUDA_GRAPHS",
                      "off: training steps on a GPU are not recorded as CUDA graphs"}});
    text += entries("EXIT STATUS", {{"0", "done"},
                                    {"1", "failed; the reason is on standard error"},
                                    {"2", "an argument is wrong"},
                                    {"130", "interrupted, after a checkpoint was saved"}});
    text += ".SH SEE ALSO\n\\fB" + roff(program.otherProgram) + "\\fR(1)";
    text += ", and the documents in share/doc/relascope, which the window shows under Help\n";
    return text;
}

}  // namespace relascope::cli
