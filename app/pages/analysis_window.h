// SPDX-License-Identifier: GPL-3.0-or-later
// The window Measure: the analyses of what the inspector shows, a tab for each. A page of the main
// window may hold some of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QByteArray>
#include <QLabel>
#include <QString>
#include <QWidget>

#include "app/controllers/analysis_controller.h"

class QStackedWidget;
class QTabBar;

namespace relascope::widgets {
class PanelHead;
}  // namespace relascope::widgets

namespace relascope::app {

class AnalysisTab;
class UndoHistory;

/// Not modal; owns its controller, and with it a thread and a model. Ctrl+Z takes back a change of
/// an option, Ctrl+Shift+Z makes it again.
class AnalysisWindow : public QWidget {
    Q_OBJECT
public:
    /// Creates the window with all analyses that have no page of their own.
    /// `measurements`: shared with other windows; null: its own.
    explicit AnalysisWindow(QWidget* parent = nullptr, Measurements* measurements = nullptr);
    /// Creates a page of the main window; changes of options are steps of `history`.
    AnalysisWindow(const std::vector<const core::Analysis*>& analyses, UndoHistory& history,
                   Measurements& measurements);
    ~AnalysisWindow() override;

    /// Sets the subject, which the inspector shows; nullopt: none. Measurements of an earlier one
    /// continue, and results that do not depend on the change stay.
    void setSubject(std::optional<AnalysedSubject> subject);
    /// Sets the input B for patching.
    void setSecond(ProbeSample sample, const QString& name);
    /// Shows the window with the tab of that analysis.
    void showTab(const std::string& analysis);
    /// The tab that is shown.
    AnalysisTab* current() const;
    /// The tab of an analysis. Throws std::out_of_range for another name.
    AnalysisTab* tab(const std::string& analysis) const { return m_tabs.at(analysis); }

    AnalysisController& controller() { return *m_c; }
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

protected:
    /// Creates the tab of an analysis, which shares the controller; it stands nowhere yet.
    AnalysisTab* makeTab(const core::Analysis& analysis);
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    AnalysisWindow(const std::vector<const core::Analysis*>& analyses, UndoHistory* history,
                   Measurements* measurements, QWidget* parent);
    void addTab(const core::Analysis& analysis);
    void activate();
    void showNote();

    std::unique_ptr<AnalysisController> m_c;
    UndoHistory* m_undo;
    widgets::PanelHead* m_head;
    QLabel* m_note;
    QTabBar* m_bar;
    QStackedWidget* m_pages;
    std::map<std::string, AnalysisTab*> m_tabs;
};

}  // namespace relascope::app
