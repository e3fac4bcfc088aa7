// SPDX-License-Identifier: GPL-3.0-or-later
// Every run of a study as a small square: what waits, runs, failed, and what the others reached.
#pragma once

#include <QAbstractScrollArea>
#include <vector>

#include "widgets/maps/color_map.h"
#include "widgets/study/study_layout.h"

class QMenu;

namespace relascope {

/// One run, at its place in the layout; runs of the same place stand side by side in their order.
struct GridRun {
    int row = 0, column = 0;
    QString name, path;  ///< the path is empty before the run began
    std::int64_t seed = 0;
    CellState state = CellState::Waiting;
    double progress = 0.0;  ///< 0..1, of what began
    double value = std::numeric_limits<double>::quiet_NaN();
    double seconds = 0.0;  ///< of training
    QString message, device;
    bool operator==(const GridRun&) const = default;
};

/// Rows and columns of a StudyLayout, each cell one square a seed with their mean below. Painted,
/// only what is in sight: thousands of runs cost what a screen of them costs.
class StudyGrid : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit StudyGrid(QWidget* parent = nullptr);

    void setStudy(const StudyLayout& layout, const StudyMetric& metric, std::vector<GridRun> runs);
    const std::vector<GridRun>& runs() const { return m_runs; }
    /// Index into runs(), -1: none.
    int current() const { return m_current; }
    void setCurrent(int index);  ///< does not signal
    /// The run whose square is there, in the viewport; -1: none.
    int runAt(const QPoint& at) const;
    QRect runRect(int index) const;
    /// What the pointer is told over a run.
    QString runText(int index) const;
    /// Colours go from the first to the second value (the better end is the brighter one).
    std::pair<double, double> range() const { return m_range; }
    QColor fill(double value) const;
    /// Failed runs can be tried once more; else the entry is off and says why.
    void setRetry(bool possible, const QString& reason);
    /// Entries behind the own ones in the menu of a run: how to save the view.
    void setViewActions(const QList<QAction*>& actions) { m_viewActions = actions; }

    QString csv() const;
    /// The whole grid, also what does not fit on the screen.
    QSize wholeSize() const;
    void paintWhole(QPainter& painter) const;

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
    struct Cell {
        std::vector<int> runs;
        double mean = std::numeric_limits<double>::quiet_NaN();
    };
    const Cell& cell(int row, int column) const;
    void restyle();
    void measure();  ///< widths of columns and squares for the room there is
    QRect markRect(int row, int column, int place) const;  ///< in the whole grid
    void paintHead(QPainter& painter, int width) const;
    void paintRow(QPainter& painter, int row, int width) const;
    void paintLabel(QPainter& painter, int row, int width) const;
    void paintRun(QPainter& painter, int index, const QRect& mark) const;
    void choose(int index);
    void activate(int index);
    void step(int right, int down);
    void showRunMenu(int index, const QPoint& globalAt);

    StudyLayout m_layout;
    StudyMetric m_metric;
    std::vector<GridRun> m_runs;
    std::vector<Cell> m_cells;  ///< row by row
    std::vector<int> m_placeOf;
    int m_seeds = 1, m_current = -1, m_hovered = -1;
    int m_labelWidth = 180, m_cellWidth = 80, m_mark = 10;
    std::pair<double, double> m_range{0.0, 1.0};
    ColorScale m_scale;
    bool m_retry = false;
    QString m_retryReason;
    QList<QAction*> m_viewActions;
};

/// What the squares mean: their states and the colours of the values.
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

/// One square in its state; `ends` is how much of it is filled while it runs.
void paintStudyMark(QPainter& painter, const QRect& mark, CellState state, double progress,
                    const QColor& fill);

}  // namespace relascope
