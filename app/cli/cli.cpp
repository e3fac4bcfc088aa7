// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "analysis/analysis.h"
#include "app/cli/build_facts.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/far_command.h"
#include "app/cli/plain_output.h"
#include "app/cli/run_text.h"
#include "files/command_line.h"
#include "model/served/served_link.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "question/table_command.h"
#include "train/devices.h"
#include "types/error.h"
#include "types/suggest.h"
#include "wire/served_link.h"

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

std::vector<Command> commands() {
    std::vector<Command> all = {presetsCommand(), familiesCommand(), datasetsCommand(),
                                devicesCommand(), servedCommand(),   trainCommand(),
                                rankCommand(),    studyCommand(),    evalCommand(),
                                pointsCommand(),  inspectCommand()};
    for (const auto* analysis : core::analyses()) all.push_back(analysisCommand(*analysis));
    for (const auto& tables : core::tableCommands()) all.push_back(tableCommand(tables));
    for (const auto& more :
         {dataCommand(), verifyCommand(), infoCommand(), convertCommand(), exportCommand(),
          tokenizeCommand(), generateCommand(), sessionCommand(), attachCommand(), mcpCommand(),
          fetchCommand(), figureCommand(), drawCommand(), curvesCommand(), compareCommand()})
        all.push_back(more);
    return all;
}

}  // namespace

void beginComputing(int threads) {
    stopOnSignals();
    core::initDevices(threads);
}

namespace {

// The exit code of a command with this result: output that could not be written is an error.
int written(int code) {
    if (std::cout.flush() && !std::ferror(stdout) && std::fflush(stdout) == 0) return code;
    std::cerr << "relascope-cli: standard output cannot be written: " << std::strerror(errno)
              << "\n";
    return code == 0 ? kExitFailed : code;
}

/// Prints the words that complete an argument in a shell (resources/desktop/completion.bash), one
/// per line.
int printWords(const std::string& what) {
    std::set<std::string> words;
    for (const auto& preset : core::presets()) {
        if (what == "presets") words.insert(preset.name);
        if (what == "models") words.insert(preset.variants.begin(), preset.variants.end());
        if (what != "options") continue;
        for (const auto& variant : preset.variants)
            for (const auto& [key, text] :
                 core::optionTexts(core::presetOptions(preset.name, variant)))
                words.insert(key + "=");
    }
    for (const auto& word : words) std::cout << word << "\n";
    return 0;
}

// Words that the parser refuses; it has said why on stderr.
class RefusedWords : public Error {
public:
    using Error::Error;
};

enum class AnswersAs { CommandLine, Json, Any };  // Any: also what takes no --json

// Runs a command. Throws RefusedWords, and what the command throws.
// Shows what a question to a served model waits for, and stops on signals.
wire::ServedWait untilSignals() {
    return [stop = stopOnSignals(), line = WaitingLine()](const std::string& text) mutable {
        line.show(text);
        return !stop.stop_requested();
    };
}

int runWords(int argc, char** argv, AnswersAs as) {
    const bool answering = as != AnswersAs::CommandLine;
    const std::vector<std::string> asked(argv + 1, argv + argc);
    if (const auto far = farServed(asked)) return runOnHost(*far, asked, answering);
    if (answering) figureOrigin() = {};  // a session answers one command after another
    // The first word that is no option is the command, which may have a former name.
    std::vector<char*> given(argv, argv + argc);
    std::string command;
    for (std::size_t k = 1; k < given.size() && command.empty(); ++k) {
        if (given[k] == std::string("--threads"))
            ++k;
        else if (given[k][0] != '-')
            command = core::currentName(given[k]), given[k] = command.data();
    }
    argv = given.data();
    CLI::App app("Relascope: train relational Transformers and inspect them");
    app.set_version_flag(
        "--version",
        [] {
            std::string text = versionText(buildFacts());
            text.pop_back();  // CLI11 adds the newline
            return text;
        },
        "print version, commit and libraries (--json: as one JSON object)");
    app.require_subcommand(1);
    bool json = false, paper = false;
    int threads = 0;
    app.add_option("--threads", threads, "CPU threads (0: one per core)")
        ->check(CLI::Range(0, 1024));
    struct Declared {
        const CLI::App* parser;
        Needs needs;
        std::function<int(const Call&)> run;
    };
    std::vector<Declared> declared;
    for (const auto& command : commands()) {
        if (as == AnswersAs::Json && !command.json) continue;
        auto* parser = app.add_subcommand(command.name, command.help);
        if (command.json) parser->add_flag("--json", json, "print one JSON object on stdout");
        if (command.paper) {
            parser->add_flag(
                "--paper", paper,
                "pictures for a paper: the panel alone, the caption as .txt beside it");
            parser->add_option("--dpi", figureOrigin().dpi, "of a .png; 96 is the screen's")
                ->check(CLI::Range(24, 600));
            parser->add_flag("--dark", figureOrigin().dark, "pictures in the dark theme");
        }
        declared.push_back({parser, command.needs, command.declare(*parser)});
        if (command.needs == Needs::Threads)
            parser->add_option("--threads", threads, "CPU threads")->check(CLI::Range(0, 1024));
    }
    std::string what;
    auto* words = app.add_subcommand("words", "prints words that complete an option");
    words->group("");  // for completion.bash
    words->add_option("what", what, "presets, models or options")->required();

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = usageError(app, error, argc, argv);
        if (code == 0) return code;  // --help, --version
        throw RefusedWords(error.what());
    }
    if (*words) return printWords(what);
    const auto chosen = std::find_if(declared.begin(), declared.end(),
                                     [](const Declared& one) { return one.parser->parsed(); });
    if (chosen->needs == Needs::Threads) beginComputing(threads);
    std::optional<wire::ServedWaitScope> wait;
    if (chosen->needs == Needs::Threads && !answering) wait.emplace(untilSignals());
    if (figureOrigin().command.empty())
        figureOrigin().command =
            core::commandLine(withoutOutput(std::vector<std::string>(argv + 1, argv + argc)));
    try {
        return chosen->run({json || answering, paper});
    } catch (const nlohmann::json::type_error&) {
        throw Error(
            "a name that is not UTF-8 cannot be written as JSON; rename the file or folder");
    }
}

/// The words of a command as main() gets them.
std::vector<char*> pointersOf(std::vector<std::string>& words) {
    std::vector<char*> argv = {const_cast<char*>("relascope-cli")};
    for (auto& word : words) argv.push_back(word.data());
    return argv;
}

// What is printed while it lives.
class PrintedText {
public:
    PrintedText() : m_out(std::cout.rdbuf(&m_text)), m_err(std::cerr.rdbuf(&m_said)) {}
    ~PrintedText() {
        std::cout.rdbuf(m_out);
        std::cerr.rdbuf(m_err);
    }
    PrintedText(const PrintedText&) = delete;
    PrintedText& operator=(const PrintedText&) = delete;
    std::string text() const { return m_text.str(); }
    std::string said() const { return m_said.str(); }

private:
    std::stringbuf m_text, m_said;
    std::streambuf *m_out, *m_err;
};

}  // namespace

bool drawsPictures(const std::string& name) {
    static const auto all = commands();
    const auto at = std::ranges::find(all, name, &Command::name);
    return at != all.end() && at->paper;
}

int runOtherCommand(std::vector<std::string> words) {
    auto argv = pointersOf(words);
    return runWords(static_cast<int>(argv.size()), argv.data(), AnswersAs::CommandLine);
}

CommandAnswer answerCommand(std::vector<std::string> words, std::stop_token stop,
                            std::function<void(double)> progress, bool any) {
    auto argv = pointersOf(words);
    const SteeredScope steered(std::move(stop), std::move(progress));
    const PrintedText printed;
    try {
        const int code = runWords(static_cast<int>(argv.size()), argv.data(),
                                  any ? AnswersAs::Any : AnswersAs::Json);
        return {code, printed.text(), printed.said()};
    } catch (const RefusedWords&) {
        // The lines with the unknown word and its likely spelling, as one sentence.
        std::string why = printed.said();
        if (const std::string_view who = "relascope-cli: "; why.starts_with(who))
            why.erase(0, who.size());
        while (why.ends_with('\n')) why.pop_back();
        for (std::size_t at; (at = why.find('\n')) != why.npos;) why.replace(at, 1, "; ");
        throw OptionError(words.empty() ? "words" : words.front(), why);
    }
}

int runCommandLine(int argc, char** argv) {
    const PlainOutput plain;
    fetchRevisionsOnDemand();
    core::setServedLinks(wire::openServedDoor);
    if (argc > 1 && std::string(argv[1]) == "--version") return printVersion(argc, argv);
    try {
        return written(runWords(argc, argv, AnswersAs::CommandLine));
    } catch (const RefusedWords&) {
        return written(kExitUsage);
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
