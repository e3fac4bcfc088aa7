// SPDX-License-Identifier: GPL-3.0-or-later
// Completion functions for bash, zsh and fish.
#include <algorithm>

#include "app/cli/manual.h"
#include "types/text_format.h"

namespace relascope::cli {
namespace {

std::string functionName(const std::string& program) {
    std::string name = "_" + program;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::vector<std::string> commandNames(const ProgramManual& program) {
    std::vector<std::string> names;
    for (const auto& command : program.commands) names.push_back(command.name);
    return names;
}

std::vector<std::string> optionNames(const std::vector<ManualOption>& options) {
    std::vector<std::string> names;
    for (const auto& option : options)
        if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

/// "case $before in ...": what completes the value of an option.
std::string bashValues(const std::vector<ManualOption>& options, const std::string& indent) {
    std::string text;
    for (const auto& option : options) {
        if (option.positional || option.value == ManualValue::None) continue;
        text += indent + joined(option.names, "|") + ") ";
        if (option.value == ManualValue::File)
            text += "files=1; return;;\n";
        else
            text += "words=" + shellWord(joined(option.choices, " ")) + "; return;;\n";
    }
    return text;
}

std::string bashPositional(const std::vector<ManualOption>& options) {
    for (const auto& option : options)
        if (option.positional)
            return option.value == ManualValue::File
                       ? "files=1"
                       : "words=" + shellWord(joined(option.choices, " "));
    return ":";
}

}  // namespace

std::string bashCompletion(const ProgramManual& program) {
    const std::string name = functionName(program.name);
    const std::string commands = joined(commandNames(program), " "),
                      own = joined(optionNames(program.options), " ");
    std::string text = "# Completion of " + program.name + " for bash.\n";
    // What may follow: words, or the names of files.
    text += name +
            "_words() { # COMMAND, and the word before\n  case $1 in\n    '')\n      case $2 in\n" +
            bashValues(program.options, "        ") +
            "      esac\n      words=" + shellWord(commands + " " + own) +
            "\n      files=" + (program.commandsElsewhere ? "1" : "0") + ";;\n";
    for (const auto& command : program.commands)
        text += "    " + command.name + ")\n      case $2 in\n" +
                bashValues(command.options, "        ") +
                "      esac\n      if [[ $cur == -* ]]; then words=" +
                shellWord(joined(optionNames(command.options), " ")) + "\n      else " +
                bashPositional(command.options) + "; fi;;\n";
    text += "  esac\n}\n";
    text += name +
            "() {\n"
            "  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= "
            "words= files=0 i\n"
            "  COMPREPLY=()\n"
            "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
            "    case ' " +
            commands +
            " ' in *\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]}; break;; esac\n"
            "  done\n"
            "  " +
            name +
            "_words \"$command\" \"$before\"\n"
            "  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
            "  if ((files)); then\n"
            "    local found\n"
            "    mapfile -t found < <(compgen -f -- \"$cur\")\n"
            "    [[ ${#found[@]} = 0 ]] || compopt -o filenames\n"
            "    COMPREPLY+=(\"${found[@]}\")\n"
            "  fi\n"
            "  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace\n"
            "}\n"
            "complete -F " +
            name + " " + program.name + "\n";
    return text;
}

namespace {

/// Text within the brackets and behind the colons of _arguments.
std::string zshText(const std::string& text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') out += '\\';
        out += letter;
    }
    return out;
}

std::string zshAction(const ManualOption& option) {
    if (option.value == ManualValue::File) return "_files";
    if (option.choices.empty()) return " ";
    // Words that end in "=" are continued, not followed by a space.
    const bool open = option.choices.front().back() == '=' || option.choices.front().back() == ':';
    std::string words;
    for (const auto& word : option.choices) words += (words.empty() ? "" : " ") + zshText(word);
    return open ? "{compadd -S \"\" -- " + joined(option.choices, " ") + "}" : "(" + words + ")";
}

std::string zshArguments(const std::vector<ManualOption>& options, const std::string& indent) {
    std::string text;
    for (const auto& option : options) {
        if (option.positional) {
            const std::string where = option.repeated ? "*" : "";
            text +=
                " \\\n" + indent +
                shellWord(where + ":" + zshText(option.names.front()) + ":" + zshAction(option));
            continue;
        }
        const std::string value =
            option.value == ManualValue::None
                ? ""
                : ":" + zshText(option.names.back().substr(2)) + ":" + zshAction(option);
        for (const auto& name : option.names)
            text += " \\\n" + indent +
                    shellWord((option.repeated ? "*" : "") + name + "[" + zshText(option.help) +
                              "]" + value);
    }
    return text;
}

}  // namespace

std::string zshCompletion(const ProgramManual& program) {
    const std::string name = functionName(program.name);
    std::string text =
        "#compdef " + program.name + "\n# Completion of " + program.name + " for zsh.\n";
    text += name + "_command() {\n  local -a commands=(\n";
    for (const auto& command : program.commands)
        text += "    " + shellWord(command.name + ":" + command.help) + "\n";
    text += "  )\n  _describe command commands\n";
    if (program.commandsElsewhere) text += "  _files\n";
    text += "}\n" + name + "() {\n  local curcontext=$curcontext state line\n  _arguments -C" +
            zshArguments(program.options, "    ") + " \\\n    '1:command:" + name +
            "_command' \\\n    '*::argument:->arguments'\n  [[ $state = arguments ]] || return 0\n "
            " case $line[1] in\n";
    for (const auto& command : program.commands)
        text += "    " + command.name + ")\n      _arguments" +
                zshArguments(command.options, "        ") + ";;\n";
    if (program.commandsElsewhere) text += "    *) _files;;\n";
    text += "  esac\n}\n" + name + " \"$@\"\n";
    return text;
}

namespace {

std::string fishOption(const ManualOption& option, const std::string& begin) {
    std::string line = begin;
    if (!option.positional)
        for (const auto& name : option.names)
            line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    const bool files = option.value == ManualValue::File;
    if (option.positional ? !files : option.value != ManualValue::None)
        line += option.positional ? " -f" : files ? " -r" : " -x";
    if (option.positional && files) line += " -F";
    if (!option.choices.empty()) line += " -a " + shellWord(joined(option.choices, " "));
    if (!option.positional) line += " -d " + shellWord(option.help);
    return line + "\n";
}

}  // namespace

std::string fishCompletion(const ProgramManual& program) {
    std::string text = "# Completion of " + program.name + " for fish.\n";
    const std::string begin = "complete -c " + program.name;
    const std::string none =
        " -n " + shellWord("not __fish_seen_subcommand_from " + joined(commandNames(program), " "));
    if (!program.commandsElsewhere) text += begin + none + " -f\n";
    for (const auto& command : program.commands)
        text += begin + none + " -a " + command.name + " -d " + shellWord(command.help) + "\n";
    for (const auto& option : program.options) text += fishOption(option, begin + none);
    for (const auto& command : program.commands)
        for (const auto& option : command.options)
            text += fishOption(
                option, begin + " -n " + shellWord("__fish_seen_subcommand_from " + command.name));
    return text;
}

}  // namespace relascope::cli
