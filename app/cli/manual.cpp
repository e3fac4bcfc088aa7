// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "app/cli/window_options.h"
#include "options/builtin_resources.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "train/benchmark.h"
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
    std::fputs(text.c_str(), stdout);
    return 0;
}

}  // namespace relascope::cli
