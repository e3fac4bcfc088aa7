// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/manual.h"

namespace relascope::cli {
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
    text +=
        entries("FILES", {{"~/Relascope/runs", "the runs, a folder for each"},
                          {"~/Relascope/studies", "the studies made in the window"},
                          {"~/.config/Relascope", "the window's settings"},
                          {"~/.local/share/relascope/torch",
                           "a virtual environment whose LibTorch is used on GPUs, if there is one"},
                          {"~/.local/state/relascope", "reports of crashes"}});
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
