// SPDX-License-Identifier: GPL-3.0-or-later
// Grids of tinted cells: one or more panels of rows by columns, with names and values, laid out and
// painted. Heads by layers, patching maps and the logit lens are such grids.
#pragma once

#include <functional>
#include <vector>

#include <QColor>
#include <QRect>
#include <QStringList>

class QPainter;

namespace relascope::widgets {

/// A cell of a panel, all counted from 0; -1: none.
struct GridPlace {
    int panel = -1, row = -1, column = -1;
    bool operator==(const GridPlace&) const = default;
};

struct GridCell {
    double value = 0.0;      ///< what the cell is tinted by; NaN: not tinted
    QString text = {};       ///< inside, where there is room
    bool present = true;     ///< false: nothing is drawn and the keys pass by
    bool hatched = false;    ///< an estimate
    bool framed = false;     ///< stands out
    bool emphasised = true;  ///< of texts: bold and not muted
};

/// Neighbouring columns with a name below them; the longest form that fits is shown.
struct GridGroup {
    QStringList names;
    int columns = 0;
};

struct GridPanel {
    QString title = {}, note = {};  ///< note: muted, behind the title
    QStringList rows = {};
    QStringList columns = {};  ///< numbers of the columns
    QStringList inputs = {};   ///< what stands there; empty: numbers alone
    QString columnName = {};   ///< "position", beside the numbers
    std::vector<GridGroup> groups = {};
    bool lastRowApart = false;
    std::function<GridCell(int row, int column)> cell = {};
    /// A cell in a sentence, for tips and the line below.
    std::function<QString(int row, int column)> text = {};
};

struct GridStyle {
    std::function<QColor(double)> fill;
    int leastCell = 12, mostCell = 40;  ///< px
    int rowHeight = 0;                  ///< px; 0: cells are squares
    int numbersFrom = 34;               ///< width of a cell that has room for its text
    bool beside = false;                ///< panels stand side by side where they fit
    /// Cells are texts of one width, the names of columns stand above, a click chooses a column,
    /// and names stay where they are when the grid is scrolled. For a single panel.
    bool texts = false;
    int mostUpright = 66;  ///< px: of the names below the columns, where they stand upright
};

/// Panels laid out for a width: what a widget shows and a figure repeats. Its coordinates are those
/// of the whole picture.
class GridPicture {
public:
    explicit GridPicture(GridStyle style) : m_style(std::move(style)) {}

    void setPanels(std::vector<GridPanel> panels);
    const std::vector<GridPanel>& panels() const { return m_panels; }
    const GridStyle& style() const { return m_style; }
    void fit(int width);
    QSize size() const { return m_size; }
    int namesWidth() const { return m_names; }
    int headHeight() const;
    GridPlace placeAt(const QPoint& at) const;
    QRect cellRect(const GridPlace& place) const;
    bool present(const GridPlace& place) const;
    /// All that meets `seen`.
    void paint(QPainter& painter, const QRect& seen) const;
    void paintCells(QPainter& painter, int panel, const QRect& seen) const;
    void paintRowNames(QPainter& painter, int panel) const;
    void paintColumnNames(QPainter& painter, int panel, const QRect& seen) const;

private:
    struct Box {
        QRect cells;
        int below = 0;         ///< height of what stands below the cells
        bool inputs = false;   ///< names of columns are what stands there, not numbers
        bool upright = false;  ///< and are turned, as they are wider than a cell
    };
    void fitTexts();
    void fitBeside(int width);
    void fitBelow(int width);
    int rowsOf(int panel) const { return static_cast<int>(panelAt(panel).rows.size()); }
    int columnsOf(int panel) const { return static_cast<int>(panelAt(panel).columns.size()); }
    const GridPanel& panelAt(int panel) const { return m_panels[static_cast<std::size_t>(panel)]; }
    const Box& boxAt(int panel) const { return m_boxes[static_cast<std::size_t>(panel)]; }
    void paintTitle(QPainter& painter, int panel) const;
    void paintCell(QPainter& painter, const QRect& room, const GridCell& cell) const;
    void paintUpright(QPainter& painter, int panel) const;
    void paintGroups(QPainter& painter, int panel) const;

    GridStyle m_style;
    std::vector<GridPanel> m_panels;
    std::vector<Box> m_boxes;
    QSize m_size{0, 0};
    int m_names = 0, m_cell = 20, m_row = 20;
};

}  // namespace relascope::widgets
