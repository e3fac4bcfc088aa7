// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/window_options.h"

namespace relascope::cli {

const std::vector<WindowOption>& windowOptions() {
    using enum ManualValue;
    static const std::vector<WindowOption> options = {
        {"version", "Print version, commit and libraries."},
        {"new-instance", "Open another window, also where one is open."},
        {"screenshot", "Save a screenshot of the window and exit.", "file.png", File},
        {"size", "Size of the screenshot.", "1440x900", Word},
        {"page",
         "Page to show: workbench, compare, study, data, checkpoint, atlas or duel.",
         "page",
         Word,
         {"workbench", "compare", "study", "data", "checkpoint"}},
        {"theme", "dark, light or system.", "theme", Word, {"dark", "light", "system"}},
        {"preset", "Experiment shown in the screenshot (default: quick).", "preset", Word},
        {"run", "Run shown in the screenshot, instead of training one.", "folder", File},
        {"after-steps",
         "Training step at which the screenshot is taken, or number of generated tokens.", "n",
         Number},
        {"model", "One of the preset's models.", "name", Word},
        {"set", "KEY=VALUE for any option: model.d_model=64.", "key=value", Word},
        {"data", "A .npz file, a text file, or a folder of either.", "path", File},
        {"epochs", "Total epochs.", "n", Number},
        {"steps", "Total steps.", "n", Number},
        {"seed", "One seed instead of the preset's.", "n", Number},
        {"device", "auto, cpu, cuda:0.", "name", Word},
    };
    return options;
}

ProgramManual windowManual(const ProgramManual& commandLine) {
    ProgramManual program;
    program.name = "relascope";
    program.summary = "train relational Transformers and look inside them while they learn";
    program.synopsis = {"[OPTIONS]", "[OPTIONS] PATH ...", "[OPTIONS] train PRESET",
                        "COMMAND [ARGUMENTS] [OPTIONS]"};
    program.description = {
        "Opens the window, with the runs, studies, checkpoints, texts and images that are named: a "
        "run "
        "or study is a folder, or the file run.json or study.json in it; a checkpoint is a "
        ".safetensors, .pt, .pth or .ckpt file or a folder of them.",
        "A COMMAND is one of relascope-cli(1), and runs without the window."};
    program.options.push_back({.names = {"-h", "--help"}, .help = "Show this help."});
    // Before any command the experiments and models complete the same words as those of `train`.
    const auto known = [&](const std::string& name) -> std::vector<std::string> {
        for (const auto& command : commandLine.commands)
            if (command.name == "train")
                for (const auto& option : command.options)
                    if (option.names.back() == name) return option.choices;
        return {};
    };
    for (const auto& option : windowOptions()) {
        const std::string name = std::string("--") + option.name;
        auto choices = option.choices;
        if (choices.empty() && option.kind == ManualValue::Word)
            choices = known(name == "--preset" ? "preset" : name);
        program.options.push_back({.names = {name},
                                   .help = option.help,
                                   .value = option.kind,
                                   .choices = choices,
                                   .repeated = name == "--set"});
    }
    program.commands = commandLine.commands;
    program.otherProgram = "relascope-cli";
    program.commandsElsewhere = true;
    return program;
}

}  // namespace relascope::cli
