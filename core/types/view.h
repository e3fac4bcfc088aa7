// SPDX-License-Identifier: GPL-3.0-or-later
// A view: a question and how its picture is looked at, so that it can be saved, cited and drawn
// again (formats.md section 21).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "types/answer.h"
#include "types/field.h"
#include "types/question.h"
#include "types/relation_map.h"

namespace relascope {

/// How a map and its input are looked at; the names of forms, ranges and orders are the choices of
/// mapLookFields() (views/map_look.h).
struct MapLook {
    std::int64_t head = 1;  ///< relational head of attention times relation, from 1
    std::int64_t to = -1;   ///< object j, from 0; -1: the first
    bool reversed = false;  ///< cell (i, j) shows the value of (j, i)
    std::string form = "raw";
    std::int64_t top = 5;  ///< entries of each row that the form "top" keeps
    std::string range = "layer";
    bool unclipped = false;  ///< colours end at the extremes, not at the 2nd and 98th percentile
    bool green_red = false;  ///< the colours of the papers
    std::string order = "number";                        ///< order of the small maps
    std::vector<std::string> parts = {"source", "map"};  ///< and "small": the maps of the layer
    bool operator==(const MapLook&) const = default;
};

struct View : Question {
    int dpi = 0;          ///< resolution of a PNG, 96 as on the screen; 0: the usual 300
    bool paper = false;   ///< for a paper
    bool dark = false;    ///< in the dark theme
    std::string version;  ///< version of the program that saved it
    /// SHA-256 of the files that options name, by option.
    std::map<std::string, std::string> files;
    /// The name and SHA-256 of the file beside it with what it shows; empty: there is none.
    std::string data, dataChecksum;

    // Not in the file: what the view shows at the moment, which "with data" keeps beside it.
    std::variant<std::monostate, std::shared_ptr<const ProbeResult>, std::shared_ptr<const Answer>>
        shown = {};
    std::string caption;   ///< caption of its picture: for maps the name of the run or checkpoint
    bool steps = true;     ///< the weights of its maps are those of a step
    bool printed = false;  ///< a table or a text, which the command prints: no picture is drawn
};

}  // namespace relascope
