// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs' manual pages and shell completions say: the options and commands that are
// parsed, as data, and the texts made of them. `relascope-cli manual` prints these for the
// installation (app/install).
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace relascope::cli {

/// What an option takes, for completion.
enum class ManualValue { None, Number, Word, File };

struct ManualOption {
    std::vector<std::string> names;  ///< "--seed", "-h"; of a positional argument: "preset"
    std::string help;
    ManualValue value = ManualValue::None;
    std::vector<std::string> choices;  ///< words that complete it; others may be allowed
    bool required = false, positional = false, repeated = false;
};

struct ManualCommand {
    std::string name, help;
    std::vector<ManualOption> options;  ///< positional arguments first
};

struct ProgramManual {
    std::string name;                      ///< "relascope-cli"
    std::string summary;                   ///< "train relational Transformers and inspect them"
    std::vector<std::string> synopsis;     ///< what may follow the name: "COMMAND [OPTIONS]"
    std::vector<std::string> description;  ///< paragraphs
    std::vector<ManualOption> options;     ///< those before or without a command
    std::vector<ManualCommand> commands;   ///< without those that are not for people
    std::string otherProgram;              ///< whose manual page is referred to
    bool commandsElsewhere = false;        ///< described by the other program's page
};

/// The commands and options of the parser, with the words that complete them.
ProgramManual manualOf(const CLI::App& app);

/// A page of section 1, for man(1) (man macros, see man(7)).
std::string manualPage(const ProgramManual& program, const std::string& version);

/// Completion functions. A program's file is installed under the name that the shell loads by
/// itself.
std::string bashCompletion(const ProgramManual& program);
std::string zshCompletion(const ProgramManual& program);
std::string fishCompletion(const ProgramManual& program);

/// Prints "man", "bash", "zsh" or "fish" of "relascope-cli", whose parser is given, or of
/// "relascope". Throws OptionError for another program or form.
int printManual(const CLI::App& app, const std::string& program, const std::string& form);

}  // namespace relascope::cli
