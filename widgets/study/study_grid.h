// SPDX-License-Identifier: GPL-3.0-or-later
// Every run of a study as a small square with its state or its value.
#pragma once

#include <vector>

#include <QAbstractScrollArea>
#include <QColor>
#include <QPoint>
#include <QRect>
#include <QWidget>

#include "widgets/maps/color_map.h"
#include "widgets/study/study_cells.h"

class QMenu;
class QPainter;

namespace relascope::widgets {

// Layout and painting of the grid of a study. No widget.

/// Paints one square in its state; `progress` is the filled fraction of a running one.
void paintStudyMark(QPainter& painter, const QRect& mark, CellState state, double progress,
                    const QColor& fill);

class ViewMenu;

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

/// Rows and columns of a StudyLayout; each cell has one square per seed and their mean below. Only
/// the visible part is painted, so the cost does not depend on the number of runs.
class StudyGrid : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit StudyGrid(QWidget* parent = nullptr);

    void setStudy(const StudyLayout& layout, const StudyMetric& metric, std::vector<GridRun> runs);
    const StudyGridPicture& picture() const { return m_picture; }
    const std::vector<GridRun>& runs() const { return m_picture.cells.runs(); }
    /// Index into runs(), -1: none.
    int current() const { return m_picture.current; }
    void setCurrent(int index);  ///< emits no signal
    /// The run at a position of the viewport, or -1.
    int runAt(const QPoint& at) const;
    QRect runRect(int index) const;
    /// Whether failed runs can be repeated; otherwise the menu entry is disabled with the reason.
    void setRetry(bool possible, const QString& reason);
    /// Additional entries in the menu of a run, to save the view.
    /// Its entries follow in the menus of runs.
    void setViewMenu(ViewMenu* menu) { m_viewMenu = menu; }

    QSize sizeHint() const override;

Q_SIGNALS:
    void currentChanged(int index);  ///< by the user
    void runActivated(const QString& path);
    void folderRequested(const QString& path);
    void retryRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void restyle();
    void measure();
    QPoint scrolled() const;
    void choose(int index);
    void activate(int index);
    void step(int right, int down);
    void showRunMenu(int index, const QPoint& globalAt);

    StudyGridPicture m_picture;
    bool m_retry = false;
    QString m_retryReason;
    ViewMenu* m_viewMenu = nullptr;
};

// The legend of the grid of a study.

/// Explains the squares: states and colours of values.
class StudyGridLegend : public QWidget {
    Q_OBJECT
public:
    explicit StudyGridLegend(const StudyGrid* grid, QWidget* parent = nullptr);
    void setMetric(const StudyMetric& metric);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int barWidth() const;
    const StudyGrid* m_grid;
    StudyMetric m_metric;
};

}  // namespace relascope::widgets
