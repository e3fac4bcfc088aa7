// SPDX-License-Identifier: GPL-3.0-or-later
// Where the cells of a map and the labels along its axes stand, in pixels of the widget: layout,
// zoom and panning. No painting.
#pragma once

#include <QPoint>
#include <QRect>
#include <QSize>
#include <utility>
#include <vector>

#include "widgets/source/patches.h"

namespace relascope::widgets {

/// The labels along the rows and the columns, and the room that they need.
class MapAxes {
public:
    /// True where the labels now need other room.
    bool setTokens(std::vector<AxisToken> rows, std::vector<AxisToken> columns);
    /// nullptr where nothing is known about a row (column).
    const AxisToken* token(bool rows, int index) const;
    /// Short; its number where nothing is known about it.
    QString label(bool rows, int index) const;
    /// For the box at the pointer: two tokens may be the same word, so those go by their names.
    QString name(bool rows, int index) const;
    /// Whether a picture stands there.
    bool pictured(bool rows, int index) const;

    bool words() const { return m_room.words; }
    bool characters() const { return m_room.characters; }
    int thumb() const { return m_room.thumb; }
    bool objects() const;  ///< whether pictures are of objects, which are larger than patches
    int longest(bool rows) const { return rows ? m_room.rows : m_room.columns; }
    /// The smallest cells beside which labels are written; beside smaller ones stand numbers.
    int labelledFrom() const;
    /// Room beside the rows, or above the columns, with cells of that size.
    int margin(bool rows, int cell, bool labelled) const;
    /// Words above columns that are too narrow for them stand on end.
    bool upright(int cell) const;

private:
    struct Room {
        bool words = false;         ///< pieces of a text, written along the axes
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
    /// A step in or out; the cell at `at`, with its fraction, stays there.
    void zoom(bool in, const QPointF& at);
    /// Moves cell (0, 0) there, as far as the map still fills the area.
    void moveTo(const QPoint& origin);
    /// Pans until the cell is seen.
    void reveal(int row, int column);

    bool zoomed() const { return m_zoomed; }
    QRect widget() const { return {QPoint(0, 0), m_widget}; }
    QRect area() const { return m_area; }       ///< where cells may be drawn
    QPoint origin() const { return m_origin; }  ///< top left of cell (0, 0)
    /// Pixels a cell, or 1 with `block()` > 1 cells a pixel where the map is too large for the
    /// widget.
    int cell() const { return m_cell; }
    int block() const { return m_block; }
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

    /// Whether cells are large enough for what stands beside each: its picture or its word.
    bool labelled() const { return m_block == 1 && m_cell >= m_axes.labelledFrom(); }
    bool upright() const { return labelled() && m_axes.upright(m_cell); }
    int margin(bool rows) const { return m_axes.margin(rows, m_cell, labelled()); }
    /// The margin beside the area in which the labels of the rows (columns) stand.
    QRect marginRect(bool rows) const;
    int thumbSide() const { return qMin(m_cell, m_axes.thumb()) - 4; }
    QRect thumbRect(int index, bool row) const;
    /// How many rows (columns) from one number to the next.
    int tickStep() const;
    QRect tickRect(int index, bool rows) const;
    /// Where the label of the chosen row or column stands: beside the map, where its number would.
    QRect chipRect(int index, bool row) const;

private:
    const MapAxes& m_axes;
    QSize m_widget, m_cells;
    QRect m_area;
    QPoint m_origin;
    int m_cell = 1, m_block = 1;
    int m_fit = 1, m_fitBlock = 1;  ///< with which the whole map fits
    bool m_zoomed = false;
};

/// The widest label of a chosen column.
inline constexpr int widestMapChip = 140;

}  // namespace relascope::widgets
