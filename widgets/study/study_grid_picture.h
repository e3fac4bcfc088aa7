// SPDX-License-Identifier: GPL-3.0-or-later
// How the grid of a study is measured and painted. No widget.
#pragma once

#include <QColor>
#include <QPoint>
#include <QRect>

#include "widgets/maps/color_map.h"
#include "widgets/study/study_cells.h"

class QPainter;

namespace relascope::widgets {

/// One square in its state; `progress` is how much of it is filled while it runs.
void paintStudyMark(QPainter& painter, const QRect& mark, CellState state, double progress,
                    const QColor& fill);

class StudyGridPicture {
public:
    static constexpr int margin = 16, headHeight = 26, rowHeight = 44, gap = 2;
    /// From the top of a row to its squares.
    static constexpr int markTop = 6;

    StudyCells cells;
    int current = -1, hovered = -1;  ///< runs, which wear a frame

    /// Widths of columns and squares for the room there is.
    void measure(int width);
    /// Takes the colours of the theme.
    void restyle();
    int labelWidth() const { return m_labelWidth; }
    int cellWidth() const { return m_cellWidth; }
    /// The whole grid, also what does not fit on the screen; the next two are in its coordinates.
    QSize size() const;
    QRect runRect(int index) const;
    /// The run whose square is there; -1: none.
    int runAt(const QPoint& at) const;
    QColor fill(double value) const;

    /// What is seen of it with that much scrolled away: head and labels stay where they are.
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
