// SPDX-License-Identifier: GPL-3.0-or-later
// Layout of the cells of a map and the labels along its axes, in pixels of the widget, with zoom
// and panning. No painting.
#pragma once

#include <QPoint>
#include <QRect>
#include <QSize>
#include <utility>
#include <vector>

#include "widgets/source/patch_view.h"

namespace relascope::widgets {

/// The labels along the rows and columns, and the space they need.
class MapAxes {
public:
    /// Returns true if the labels need a different amount of space.
    bool setTokens(std::vector<AxisToken> rows, std::vector<AxisToken> columns);
    /// nullptr if nothing is known about a row (column).
    const AxisToken* token(bool rows, int index) const;
    /// The short label, or the number if nothing is known.
    QString label(bool rows, int index) const;
    /// The label in the box at the pointer: the full name for tokens, as two may have the same
    /// text.
    QString name(bool rows, int index) const;
    /// Whether there is a picture.
    bool pictured(bool rows, int index) const;

    bool hasText() const { return m_room.text; }
    bool characters() const { return m_room.characters; }
    /// px of the largest picture beside the rows or above the columns.
    int thumb(bool rows) const;
    bool objects() const;  ///< whether pictures are of objects, which are larger than patches
    int longest(bool rows) const { return rows ? m_room.rows : m_room.columns; }
    /// The smallest cell size with labels; smaller cells have numbers.
    int labelledFrom() const;
    /// The margin beside the rows or above the columns for a cell size; names longer than `widest`
    /// px are elided.
    int margin(bool rows, int cell, bool labelled, int widest) const;
    /// Whether labels above narrow columns are rotated.
    bool upright(int cell) const;

private:
    struct Room {
        bool text = false;          ///< pieces of a text, written along the axes
        bool characters = false;    ///< each a character
        int word = 0;               ///< px that the longest of them needs
        int rows = 0, columns = 0;  ///< px of the longest label where none has a picture
        int thumb = 40;             ///< px of a picture on an axis, at most
        bool operator==(const Room&) const = default;
    };
    std::vector<AxisToken> m_rows, m_columns;
    Room m_room;
};

class MapGeometry {
public:
    explicit MapGeometry(const MapAxes& axes) : m_axes(axes) {}

    /// `cells` is the number of columns and rows. Without `keepZoom` the whole map is shown.
    void layOut(const QSize& widget, const QSize& cells, bool keepZoom);
    /// Zooms one step in or out around the position `at`.
    void zoom(bool in, const QPointF& at);
    /// Moves cell (0, 0) to a position, limited so that the map fills the area.
    void moveTo(const QPoint& origin);
    /// Pans until the cell is visible.
    void reveal(int row, int column);

    bool zoomed() const { return m_zoomed; }
    QRect widget() const { return {QPoint(0, 0), m_widget}; }
    QRect area() const { return m_area; }       ///< where cells may be drawn
    QPoint origin() const { return m_origin; }  ///< top left of cell (0, 0)
    /// Whole pixels of the smallest cell, at least 1. Cells of one map may differ by a pixel.
    int cell() const { return qMax(1, m_cell / m_block); }
    /// Pixels a cell, at least 1.
    qreal exactCell() const { return qMax(1.0, static_cast<qreal>(m_cell) / m_block); }
    /// How many cells share a pixel at most; 1 where every cell has one.
    int block() const { return (m_block + m_cell - 1) / m_cell; }
    /// How many pixels there are for how many cells.
    std::pair<int, int> pooling() const { return {m_cell, m_block}; }
    /// All cells, also those outside of the area.
    QRect map() const;
    QRect cellRect(int row, int column) const;
    /// The first cell of a row (column).
    QRect headRect(int index, bool row) const {
        return row ? cellRect(index, 0) : cellRect(0, index);
    }
    QPoint cellAt(const QPoint& point) const;  ///< x = column, y = row; (-1, -1) outside
    /// First and last row (column) that is in the area.
    std::pair<int, int> shown(bool rows) const;

    /// Whether cells are large enough for a picture or text beside each.
    bool labelled() const { return cell() >= m_axes.labelledFrom(); }
    bool upright() const { return labelled() && m_axes.upright(cell()); }
    int margin(bool rows) const { return m_axes.margin(rows, cell(), labelled(), m_widest); }
    /// The margin that contains the labels of the rows (columns).
    QRect marginRect(bool rows) const;
    int thumbSide(bool rows) const { return qMin(cell(), m_axes.thumb(rows)) - 4; }
    QRect thumbRect(int index, bool row) const;
    /// The number of rows (columns) between two numbers.
    int tickStep() const;
    QRect tickRect(int index, bool rows) const;
    /// The rectangle of the label of the chosen row or column, beside the map.
    QRect chipRect(int index, bool row) const;

private:
    const MapAxes& m_axes;
    QSize m_widget, m_cells;
    QRect m_area;
    QPoint m_origin;
    /// The first pixel of a cell from the origin.
    int pixel(int index) const;
    int pixels(int count) const;

    int m_cell = 1, m_block = 1;    ///< pixels for that many cells
    int m_fit = 1, m_fitBlock = 1;  ///< m_cell and m_block at which the whole map fits
    int m_widest = 0;               ///< px of a name beside the map
    bool m_zoomed = false;
};

/// The widest label of a chosen column.
inline constexpr int widestMapChip = 140;

}  // namespace relascope::widgets
