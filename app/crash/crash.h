// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of crashes: a file in the state folder of the user that says what happened, where, and in
// which version. It holds no data: no values, no texts, no names of the user's folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relascope::crash {

struct Program {
    std::string name;      ///< "relascope", "relascope-cli train"
    std::string versions;  ///< the lines of --version
};

/// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and exceptions that nothing catches leave a
/// report and a line on stderr before they end the process as they always do. A signal that has a
/// handler already is left to it; under a sanitizer nothing is installed. Call once, before
/// any thread starts. Never throws: without a place for reports there are none.
void install(const Program& program);

/// Gives the calling thread a stack of its own for the handler, so that an overflow of its stack is
/// reported, too. install() has done so for its thread. Cheap when it was done before.
void guardThread();

/// Keeps a line of the log for a report, without its paths and quoted texts (withoutData). From any
/// thread.
void note(std::string_view line);
/// The kept lines, oldest first.
std::vector<std::string> notes();
/// A line without control characters, paths ("<path>.pt") and words in quotation marks ('...').
std::string withoutData(std::string_view line);

/// The folder of the reports: $XDG_STATE_HOME/relascope, or ~/.local/state/relascope; empty if
/// there is no home folder. It is made by the first crash.
std::string folder();

/// The newest reports are kept, this many.
constexpr int kMostReports = 20;

struct Report {
    std::string path;
    std::string program;  ///< as Program::name
    std::string time;     ///< "2026-03-01 14:05:09 +0100"
    std::string what;     ///< one line: the signal or the exception
};
/// The reports in a folder, oldest first. A file that is no report is left out.
std::vector<Report> reports(const std::string& folder);
/// The name of the file of a report, which tells it from others.
std::string nameOf(const Report& report);
/// The text of a report with readable names of functions; empty if it cannot be read.
std::string readableReport(const std::string& path);

}  // namespace relascope::crash
