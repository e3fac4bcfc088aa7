// SPDX-License-Identifier: GPL-3.0-or-later
// Grids of tinted cells (types/grid.h), laid out and painted.
#pragma once

#include <functional>
#include <vector>

#include <QColor>
#include <QRect>

#include "types/grid.h"

class QPainter;

namespace relascope::widgets {

using GridFill = std::function<QColor(double value)>;

/// Panels laid out for a width: what a widget shows and a figure repeats. Its coordinates are those
/// of the whole picture.
class GridPicture {
public:
    GridPicture(const GridStyle& style, GridFill fill) : m_style(style), m_fill(std::move(fill)) {}

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
    GridFill m_fill;
    std::vector<GridPanel> m_panels;
    std::vector<Box> m_boxes;
    QSize m_size{0, 0};
    int m_names = 0, m_cell = 20, m_row = 20;
};

}  // namespace relascope::widgets
