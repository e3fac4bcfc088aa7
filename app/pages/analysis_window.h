// SPDX-License-Identifier: GPL-3.0-or-later
// Analyses with a tab each, in groups: those of what the inspector shows are the page Measure
// (measure_page.h), and other pages of the main window hold some.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QByteArray>
#include <QLabel>
#include <QString>
#include <QWidget>

#include "app/controllers/looker.h"
#include "app/controllers/measurements.h"
#include "app/pages/analysis_inputs.h"

class QStackedWidget;
class QTabBar;
class QUndoStack;

namespace relascope::widgets {
class PanelHead;
class SegmentedControl;
}  // namespace relascope::widgets

namespace relascope::app {

class AnalysisTab;

/// Its quick analyses run one after another, in a session of its own. Changes of options are steps
/// of the history. As a window of its own: Ctrl+Z takes one back, Ctrl+Shift+Z makes it again, Ctrl
/// with a number shows a tab, and Escape closes it.
class AnalysisWindow : public QWidget {
    Q_OBJECT
public:
    /// All analyses that have no page of their own. Shares what it gets with other windows.
    AnalysisWindow(QUndoStack& history, Measurements& measurements);
    /// Some analyses, as a page of the main window.
    AnalysisWindow(const std::vector<const core::Analysis*>& analyses, QUndoStack& history,
                   Measurements& measurements);

    /// Sets the subject, which the inspector shows; nullopt: none. Measurements of an earlier one
    /// continue, and results that do not depend on the change stay.
    /// `instead`: why there is none, "Reading quick-dat-s0"; empty: nothing is open.
    void setSubject(std::optional<Subject> subject, const QString& instead = {});
    /// Sets the second input of analyses of two.
    void setSecond(ProbeSample sample, const QString& name);
    /// Shows the tab of that analysis, and the window where it is one.
    void showTab(const std::string& analysis);
    /// The tab that is shown.
    AnalysisTab* current() const;
    /// The tab of an analysis. Throws std::out_of_range for another name.
    AnalysisTab* tab(const std::string& analysis) const { return m_tabs.at(analysis); }

    /// What setSubject() was told.
    const About& about() const { return m_about; }
    /// Sets the note in the head about the edits of the subject.
    void setEditsNote(const QString& text) { m_note->setText(text); }
    /// Adds a control at the right of the head.
    void addControl(QWidget* control);

    /// The options of all tabs that differ from the defaults, and which tabs show theirs, to be
    /// saved in the session.
    /// restoreOptions() ignores what cannot be read.
    QByteArray saveOptions() const;
    void restoreOptions(const QByteArray& options);

Q_SIGNALS:
    /// Parts are to be taken out in the inspector, as AnalysisFrame::editsRequested().
    void editsRequested(const std::vector<relascope::Edit>& edits, const QString& what);
    /// An example of a split is to be shown in the inspector, with a cell of a map.
    void exampleRequested(const QString& split, qint64 example, const relascope::MapCell& cell);
    /// A step along training was chosen.
    void stepRequested(qint64 step);
    /// As AnalysisFrame::textsRequested().
    void textsRequested(const QString& text, const QString& second);
    /// A head is to be shown in the inspector.
    void mapRequested(relascope::MapKind kind, int layer, int index);
    void shown();  ///< comes into sight: the subject is to be set before anything is measured
    void hidden();
    void closed();  ///< as a window of its own

protected:
    /// Creates the tab of an analysis, whose subject it keeps current; the caller lays it out.
    AnalysisTab* makeTab(const core::Analysis& analysis);
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void addTab(const core::Analysis& analysis);
    void addGroups();
    void showGroup(core::AnalysisGroup group);
    /// The tabs that are shown, of one group.
    std::vector<int> shownTabs() const;
    void activate();

    About m_about;
    Looker m_quick{wire::Lane::Quick};  ///< asks what is not on demand
    Measurements& m_measurements;
    QUndoStack& m_undo;
    widgets::PanelHead* m_head;
    QLabel* m_note;
    widgets::SegmentedControl* m_groups = nullptr;  ///< where the tabs are of several groups
    QTabBar* m_bar;
    QStackedWidget* m_pages;
    std::map<std::string, AnalysisTab*> m_tabs;
};

}  // namespace relascope::app
