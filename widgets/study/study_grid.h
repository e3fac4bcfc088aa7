// SPDX-License-Identifier: GPL-3.0-or-later
// Every run of a study as a small square with its state or its value.
#pragma once

#include <QAbstractScrollArea>
#include <vector>

#include "widgets/study/study_grid_picture.h"

class QMenu;

namespace relascope::widgets {

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
    void setViewActions(const QList<QAction*>& actions) { m_viewActions = actions; }

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
    QList<QAction*> m_viewActions;
};

}  // namespace relascope::widgets
