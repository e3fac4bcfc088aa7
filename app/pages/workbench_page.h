// SPDX-License-Identifier: GPL-3.0-or-later
// The Workbench: learning curves above, the relation inspector below, one time cursor through both.
#pragma once

#include <QWidget>
#include <vector>

#include "app/app_context.h"
#include "widgets/curves/curve_data.h"

class QLabel;
class QSplitter;
class QStackedLayout;

namespace relascope::widgets {
class CapturesTrack;
class CurvePanel;
class EmptyState;
class RelationInspector;
}  // namespace relascope::widgets

namespace relascope::app {

class Controllers;

class WorkbenchPage : public QWidget {
    Q_OBJECT
public:
    explicit WorkbenchPage(Controllers& controllers, QWidget* parent = nullptr);

    widgets::CurvePanel* curves() const { return m_curves; }
    widgets::RelationInspector* inspector() const { return m_inspector; }
    widgets::EmptyState* emptyState() const { return m_empty; }
    QSplitter* splitter() const { return m_splitter; }
    /// Shows curves and inspector even without a run, for the tour.
    void showPanes(bool always);
    /// Handles arrow keys that no pane has used: relations and layers. Returns false for other
    /// keys.
    bool arrowKey(int key);

Q_SIGNALS:
    void pinRequested();  ///< requested by the menu of the time cursor

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void connectCurves();
    void connectInspector();
    void showRuns();  ///< which runs are overlaid
    void showPoints(const QString& path);
    void showMarks(const QString& path);
    void showCaptures();
    void showCursor();
    void showHead();
    /// Shows below a text the likeliest next tokens, or the sample that the run generated at that
    /// step.
    void showOutcome();
    void showEmptyOrNot();
    void showAway();  ///< whether the inspected run's machine is connected

    Controllers& m_c;
    std::vector<widgets::CurveRun> m_shown;
    std::vector<widgets::PublishedValue> m_published;
    QStackedLayout* m_stack;
    widgets::EmptyState* m_empty;
    bool m_alwaysPanes = false;
    QSplitter* m_splitter;
    widgets::CurvePanel* m_curves;
    widgets::CapturesTrack* m_track;
    widgets::RelationInspector* m_inspector;
    QWidget* m_away;  ///< shown while the machine of the inspected run is not connected
    QWidget* m_veil;  ///< covers the inspector while that machine is not connected
    QLabel* m_awayText;
    bool m_text = false;  ///< the input is a text
};

}  // namespace relascope::app
