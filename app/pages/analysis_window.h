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
    /// With all analyses that have no page of their own.
    explicit AnalysisWindow(QWidget* parent = nullptr);
    /// A page of a window, whose history has the changes of options.
    AnalysisWindow(const std::vector<const core::Analysis*>& analyses, UndoHistory& history);
    ~AnalysisWindow() override;

    /// What the inspector shows; nullopt: nothing. Cancels what runs for an earlier subject, and
    /// keeps what does not depend on what is changed.
    void setSubject(std::optional<AnalysedSubject> subject);
    /// The input B of patching.
    void setSecond(ProbeSample sample, const QString& name);
    /// Shows the window with the tab of that analysis.
    void showTab(const std::string& analysis);
    /// The tab that is shown.
    AnalysisTab* current() const;
    /// The tab of an analysis. Throws std::out_of_range for another name.
    AnalysisTab* tab(const std::string& analysis) const { return m_tabs.at(analysis); }

    AnalysisController& controller() { return *m_c; }
    /// What the head says while the subject is edited.
    void setEditsNote(const QString& text) { m_note->setText(text); }
    /// At the right of the head.
    void addControl(QWidget* control);

    /// The options of all tabs that are not the defaults, for the session. What cannot be read is
    /// left out.
    QByteArray saveOptions() const;
    void restoreOptions(const QByteArray& options);

Q_SIGNALS:
    /// Parts are to be taken out in the inspector, as AnalysisFrame::editsRequested().
    void editsRequested(const std::vector<relascope::Edit>& edits, const QString& what);
    /// An example of that split is to be shown in the inspector, with a cell of a map.
    void exampleRequested(const QString& split, qint64 example, const relascope::MapCell& cell);
    /// A step along training was chosen.
    void stepRequested(qint64 step);
    /// A head is to be shown in the inspector.
    void mapRequested(relascope::MapKind kind, int layer, int index);

protected:
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    AnalysisWindow(const std::vector<const core::Analysis*>& analyses, UndoHistory* history,
                   QWidget* parent);
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
