// SPDX-License-Identifier: GPL-3.0-or-later
// The figures that are made with one click: the papers', and ours. Each is a view file of
// resources/figures that names no model yet. The command `figure`, the menus and interface.md have
// them from here.
#pragma once

#include <string>
#include <vector>

#include "types/view.h"

namespace relascope::core {

struct PapersFigure {
    std::string name, title;
    std::string of;  ///< "a study of sort-argsort", for people
    /// Begins the names of the presets whose studies it is offered for; empty: any.
    std::string preset;
    View view;  ///< its models have no path; what is of data alone is complete
};

/// All of them, in the order of the menus.
const std::vector<PapersFigure>& papersFigures();
/// The figure with that name. Throws OptionError("figure", ...) that names the nearest one.
const PapersFigure& papersFigure(const std::string& name);

}  // namespace relascope::core
