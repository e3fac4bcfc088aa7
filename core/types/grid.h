// SPDX-License-Identifier: GPL-3.0-or-later
// Grids of tinted cells as values: one or more panels of rows by columns, with names and values.
// Heads by layers, maps of patched points and the logit lens are such grids. Names and texts may be
// any bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace relascope {

/// A cell of a panel, all counted from 0; -1: none.
struct GridPlace {
    int panel = -1, row = -1, column = -1;
    bool operator==(const GridPlace&) const = default;
};

struct GridCell {
    double value = 0.0;      ///< what the cell is tinted by; NaN: not tinted
    std::string text = {};   ///< text inside, where there is room
    bool present = true;     ///< false: nothing is drawn and the keys pass by
    bool hatched = false;    ///< the value is an estimate
    bool framed = false;     ///< stands out
    bool emphasised = true;  ///< texts are bold and not muted
};

/// Neighbouring columns with a name below them; the longest form that fits is shown.
struct GridGroup {
    std::vector<std::string> names;
    int columns = 0;
};

struct GridPanel {
    std::string title = {}, note = {};  ///< note: muted, behind the title
    std::vector<std::string> rows = {};
    std::vector<std::string> columns = {};  ///< numbers of the columns
    std::vector<std::string> inputs = {};   ///< what stands in the columns; empty: numbers alone
    std::string columnName = {};            ///< name beside the numbers: "position"
    std::vector<GridGroup> groups = {};
    bool lastRowApart = false;
    std::function<GridCell(int row, int column)> cell = {};
    /// A cell in a sentence, for tips and the line below.
    std::function<std::string(int row, int column)> text = {};
};

/// How cells are laid out.
struct GridStyle {
    int leastCell = 12, mostCell = 40;  ///< limits of the size of cells, px
    int rowHeight = 0;                  ///< height of rows, px; 0: cells are squares
    int numbersFrom = 34;               ///< width of a cell that has room for its text
    bool beside = false;                ///< panels stand side by side where they fit
    /// Cells are texts of one width, the names of columns stand above, a click chooses a column,
    /// and names stay where they are when the grid is scrolled. For a single panel.
    bool texts = false;
    int mostUpright = 66;  ///< greatest height of upright names below the columns, px
};

}  // namespace relascope
