// SPDX-License-Identifier: GPL-3.0-or-later
// The Workbench: what the model sees on top, its learning curves with the timeline below.
#pragma once

#include <QWidget>
#include <vector>

#include "app/app_context.h"
#include "app/pages/atlas_page.h"
#include "types/answer.h"
#include "widgets/curves/curve_data.h"

class QPushButton;
class QSplitter;
class QStackedLayout;

namespace relascope::widgets {
class CapturesTrack;
class CurvePanel;
class EmptyState;
class FindingsBar;
class PanelHead;
class RelationInspector;
}  // namespace relascope::widgets

namespace relascope::app {

class AwayStrip;
class Controllers;
class JobStrip;
class LongTask;

class WorkbenchPage : public QWidget {
    Q_OBJECT
public:
    explicit WorkbenchPage(Controllers& controllers, QWidget* parent = nullptr);

    widgets::CurvePanel* curves() const { return m_curves; }
    widgets::RelationInspector* inspector() const { return m_inspector; }
    widgets::EmptyState* emptyState() const { return m_empty; }
    QSplitter* splitter() const { return m_splitter; }
    /// The size of the curves, for the session; empty: the user has not moved the splitter.
    QByteArray stripState() const;
    void restoreStrip(const QByteArray& state);
    widgets::FindingsBar* findings() const { return m_findings; }
    QPushButton* learnButton() const { return m_learn; }
    QPushButton* runOptionsButton() const { return m_runOptions; }
    /// The line that names the run and the weights.
    widgets::PanelHead* head() const { return m_head; }
    enum class Fill { Nothing, Map, Curves };
    /// Leaves the page to the input and its map, or to the curves.
    void fill(Fill what);
    Fill filled() const { return m_fill; }
    /// Shows curves and inspector even without a run, for the tour.
    void showPanes(bool always);
    /// The scan of a run, which may be partial, or why there is none.
    void showFindings(const QString& path, const Answer& scan, bool finished,
                      const QString& weights);
    void showNoFindings(const QString& path, const QString& sentence);
    /// Shows the progress of a scan, and cancels it.
    void followScan(LongTask& scan);
    /// Whether a run is scanned when its training is done.
    void setScansAtEnd(bool on) { m_scansAtEnd = on; }
    /// Handles arrow keys that no pane has used: relations and layers. Returns false for other
    /// keys.
    bool arrowKey(int key);

Q_SIGNALS:
    /// What the run that is shown has learned is to be measured, or opened.
    void learnRequested(AtlasPage::Learn why);
    void runOptionsRequested(bool shown);
    void pinRequested();  ///< requested by the menu of the time cursor

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void connectCurves();
    void connectInspector();
    void showRuns();  ///< which runs are overlaid
    void showPoints(const QString& path);
    void showMarks(const QString& path);
    void showCaptures();
    void showCursor();
    void showHead();
    void showSubject();
    void arrange();
    void recallScan();
    void scanAtEnd();
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
    widgets::PanelHead* m_head;
    QPushButton *m_learn, *m_runOptions, *m_resume;
    widgets::FindingsBar* m_findings;
    JobStrip* m_scanning;
    widgets::CurvePanel* m_curves;
    QWidget* m_strip;  ///< strip of time: the curves and their track
    bool m_scansAtEnd = false;
    bool m_recalled = false;  ///< a scan that is kept was looked for
    bool m_asked = false;     ///< the user waits for a scan
    QString m_training;       ///< the run of the selection that was last seen training
    bool m_ownSplit = false;  ///< the user has moved the splitter
    Fill m_fill = Fill::Nothing;
    widgets::CapturesTrack* m_track;
    widgets::RelationInspector* m_inspector;
    AwayStrip* m_away;
    bool m_text = false;  ///< the input is a text
};

}  // namespace relascope::app
