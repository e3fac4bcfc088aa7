// SPDX-License-Identifier: GPL-3.0-or-later
// Layout and painting of the grid of a study. No widget.
#pragma once

#include <QColor>
#include <QPoint>
#include <QRect>

#include "widgets/maps/color_map.h"
#include "widgets/study/study_cells.h"

class QPainter;

namespace relascope::widgets {

/// Paints one square in its state; `progress` is the filled fraction of a running one.
void paintStudyMark(QPainter& painter, const QRect& mark, CellState state, double progress,
                    const QColor& fill);

class StudyGridPicture {
public:
    static constexpr int margin = 16, headHeight = 26, rowHeight = 44, gap = 2;
    /// From the top of a row to its squares.
    static constexpr int markTop = 6;

    StudyCells cells;
    int current = -1, hovered = -1;  ///< indices of runs with a frame

    /// Computes the widths of columns and squares for the available width.
    void measure(int width);
    /// Updates the colours from the theme.
    void restyle();
    int labelWidth() const { return m_labelWidth; }
    int cellWidth() const { return m_cellWidth; }
    /// The size of the whole grid; the next two functions use its coordinates.
    QSize size() const;
    QRect runRect(int index) const;
    /// The run at a position, or -1.
    int runAt(const QPoint& at) const;
    QColor fill(double value) const;

    /// Paints the visible part at a scroll position; head and labels do not scroll.
    void paintSeen(QPainter& painter, const QPoint& scrolled, const QSize& seen) const;
    void paintWhole(QPainter& painter) const;

private:
    QRect markRect(int row, int column, int place) const;
    void paintCorner(QPainter& painter) const;
    void paintHead(QPainter& painter, int width) const;
    void paintRow(QPainter& painter, int row, int width) const;
    void paintLabel(QPainter& painter, int row, int width) const;
    void paintRun(QPainter& painter, int index, const QRect& mark) const;

    int m_labelWidth = 180, m_cellWidth = 80, m_mark = 10;
    ColorScale m_scale;
};

}  // namespace relascope::widgets
