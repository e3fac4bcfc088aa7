// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the figures of commands: `relascope draw`, the program with the window, gets the results.
#pragma once

#include <initializer_list>
#include <iostream>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "files/command_line.h"
#include "types/error.h"
#include "wire/figures.h"

namespace relascope::core {
class OpenedModel;
}  // namespace relascope::core

namespace relascope::cli {

// Other processes of this program.

/// The path of the running executable.
std::string ownProgram();
/// Starts `count` processes of this program with these arguments and waits for them; a requested
/// stop is passed on as SIGINT. Returns the highest exit code.
int runSideBySide(const std::vector<std::string>& arguments, int count,
                  const std::stop_token& stop);

/// Called before anything is computed: throws Error if `out` is a picture and the program that
/// draws it is not installed.
void requireDrawing(const std::string& out);
/// What the figures of this process say of themselves: the command line without the option for the
/// file, or what `draw` says of a view.
wire::FigureOrigin& figureOrigin();
/// The words of a command line without what says where results go: files, --json, --threads.
std::vector<std::string> withoutOutput(std::vector<std::string> words);

/// Draws a figure to the file `out`, for a paper with its caption beside it. Throws FileError if a
/// file cannot be written.
void draw(const std::string& out, const wire::Figure& figure, bool paper);

/// The ending of an output file: one of `known` or that of a picture. Throws OptionError("--out",
/// ...) for another.
std::string endingOf(const std::string& out, std::initializer_list<const char*> known);
/// Writes the first table of an answer to a .csv file, and the others beside it: x.pairs.csv.
void writeCsv(const std::string& path, const Answer& answer);
using core::folderName;
/// "occurs, step 500, validation" for a caption; `more` may be empty.
std::string captionOf(const std::string& path, const core::OpenedModel& model,
                      const std::string& more);

}  // namespace relascope::cli
