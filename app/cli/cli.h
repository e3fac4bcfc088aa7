// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of relascope-cli. The program with the window hands commands over to it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace relascope::cli {

/// Exit codes: 0 done, 1 failed, 2 bad use, 130 interrupted (after saving).
constexpr int kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

/// Whether a file is drawn, by its ending: .png, .svg or .pdf.
bool isPicture(const std::string& path);

/// Prints what --version prints, and returns the exit code; `qt` as for buildFacts().
int printVersion(int argc, char** argv, const std::string& qt = {});

/// Runs a command line; the results go to stdout, everything else to stderr. Pictures are drawn by
/// the program `relascope`.
int runCommandLine(int argc, char** argv);

/// What a command printed.
struct CommandAnswer {
    int code = 0;      ///< as of the command line
    std::string text;  ///< what went to stdout, with --json: one JSON object
    std::string said;  ///< what went to stderr: warnings and notes, a line each
};
/// Runs the words of a command that takes --json, as {"scan", PATH, "--seconds", "20"}, in a
/// process that answers requests, such as a session: with the same numbers as the command line.
/// `stop` takes the place of signals, and `progress` gets the fraction done in place of a terminal.
/// `any`: also a command without --json, whose text is what it prints.
/// Throws what the command throws, and OptionError for words that it does not take.
CommandAnswer answerCommand(std::vector<std::string> words, std::stop_token stop,
                            std::function<void(double)> progress, bool any = false);

/// While it lives, commands of this process are steered by this in place of signals and a terminal.
/// One at a time.
class SteeredScope {
public:
    SteeredScope(std::stop_token stop, std::function<void(double)> progress);
    ~SteeredScope();
    SteeredScope(const SteeredScope&) = delete;
    SteeredScope& operator=(const SteeredScope&) = delete;

    /// The one that lives; null: signals and the terminal.
    static const SteeredScope* current();

    const std::stop_token stop;
    const std::function<void(double)> progress;
};

/// A stop token that SIGINT and SIGTERM trigger; a second signal ends the process at once. Call
/// before any thread starts, so that they all inherit the blocked signals.
std::stop_token stopOnSignals();

}  // namespace relascope::cli
