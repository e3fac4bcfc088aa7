// SPDX-License-Identifier: GPL-3.0-or-later
// Questions and views as a command line and as a line of Python.
#pragma once

#include <string>
#include <vector>

#include "types/view.h"

namespace relascope::core {

/// The words of relascope-cli that ask a question, without the program.
std::vector<std::string> wordsOf(const Question& question);
/// The words that ask for what a view shows, and for how it is looked at; without the option for a
/// file, which is outOption().
std::vector<std::string> wordsOf(const View& view);
/// The option of the view's command that names the file to draw: "--out", of a study "--figure";
/// empty for what is printed.
std::string outOption(const View& view);

/// "relascope-cli inspect ~/runs/quick --layer 2"; with `out` also the file that is drawn.
std::string commandOf(const View& view, const std::string& out = {});

/// The line that gives the same numbers in Python, empty where there is none:
/// relascope.analyse("/runs/quick", "lens", sample=3), and of a map
/// relascope.map(relascope.maps("/runs/quick", sample=3).find("relation", 1, 0)).
/// Curves give the numbers of their runs.
std::string pythonOf(const View& view);

/// Adds an option to a view.
inline void addOption(View& view, std::string name, FieldValue value) {
    view.options.push_back({std::move(name), std::move(value)});
}

}  // namespace relascope::core
