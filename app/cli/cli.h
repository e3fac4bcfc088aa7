// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of relascope-cli. The program with the window hands commands over to it.
#pragma once

#include <stop_token>
#include <string>

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

/// A stop token that SIGINT and SIGTERM trigger; a second signal ends the process at once. Call
/// before any thread starts, so that they all inherit the blocked signals.
std::stop_token stopOnSignals();

}  // namespace relascope::cli
