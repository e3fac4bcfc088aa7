// SPDX-License-Identifier: GPL-3.0-or-later
// Every run of a study as a small square: what waits, runs, failed, and what the others reached.
#pragma once

#include <QAbstractScrollArea>
#include <vector>

#include "widgets/study/study_grid_picture.h"

class QMenu;

namespace relascope::widgets {

/// Rows and columns of a StudyLayout, each cell one square a seed with their mean below. Painted,
/// only what is in sight: thousands of runs cost what a screen of them costs.
class StudyGrid : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit StudyGrid(QWidget* parent = nullptr);

    void setStudy(const StudyLayout& layout, const StudyMetric& metric, std::vector<GridRun> runs);
    const StudyGridPicture& picture() const { return m_picture; }
    const std::vector<GridRun>& runs() const { return m_picture.cells.runs(); }
    /// Index into runs(), -1: none.
    int current() const { return m_picture.current; }
    void setCurrent(int index);  ///< does not signal
    /// The run whose square is there, in the viewport; -1: none.
    int runAt(const QPoint& at) const;
    QRect runRect(int index) const;
    /// Failed runs can be tried once more; else the entry is off and says why.
    void setRetry(bool possible, const QString& reason);
    /// Entries behind the own ones in the menu of a run: how to save the view.
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
