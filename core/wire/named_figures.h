// SPDX-License-Identifier: GPL-3.0-or-later
// The figures that are made with one click: the papers', and ours. Each is a command whose options
// are given. The command `figure`, the menus and interface.md have them from here.
#pragma once

#include <string>
#include <vector>

namespace relascope::wire {

struct NamedFigure {
    enum class Of { Run, Study, Nothing };
    std::string name, title;
    std::string takes;  ///< "a study of sort-argsort", for people
    Of of = Of::Run;
    /// Words of relascope-cli before the run or study; --out FILE follows.
    std::vector<std::string> words, options;
    /// Begins the names of the presets for which the figure is offered; empty: any.
    std::string preset;
};

/// All named figures, in the order of the menus.
const std::vector<NamedFigure>& namedFigures();
/// The figure with that name. Throws OptionError("figure", ...) that names the nearest one.
const NamedFigure& namedFigure(const std::string& name);
/// The words of relascope-cli that write a figure. Options among `more` replace the figure's.
std::vector<std::string> wordsOf(const NamedFigure& figure, const std::string& path,
                                 const std::string& out, const std::vector<std::string>& more);

}  // namespace relascope::wire
