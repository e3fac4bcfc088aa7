// SPDX-License-Identifier: GPL-3.0-or-later
// The window Measure: the analyses of what the inspector shows, a tab for each.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <QByteArray>
#include <QString>
#include <QWidget>

#include "app/controllers/measure_controller.h"

class QLabel;
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
class MeasureWindow : public QWidget {
    Q_OBJECT
public:
    explicit MeasureWindow(QWidget* parent = nullptr);
    ~MeasureWindow() override;

    /// What the inspector shows; nullopt: nothing. Cancels what runs for an earlier subject, and
    /// keeps what does not depend on what is changed.
    void setSubject(std::optional<MeasuredSubject> subject);
    /// The input B of patching.
    void setSecond(ProbeSample sample, const QString& name);
    /// Shows the window with the tab of that analysis.
    void showTab(const std::string& analysis);
    /// The tab that is shown.
    AnalysisTab* current() const;
    /// That of an analysis. Throws std::out_of_range for another name.
    AnalysisTab* tab(const std::string& analysis) const { return m_tabs.at(analysis); }

    MeasureController& controller() { return *m_c; }

    /// The options of all tabs that are not the defaults, for the session. What cannot be read is
    /// left out.
    QByteArray saveOptions() const;
    void restoreOptions(const QByteArray& options);

Q_SIGNALS:
    /// A part is to be taken out in the inspector.
    void editRequested(const relascope::Edit& edit);
    /// A step along training was chosen.
    void stepRequested(qint64 step);
    /// A head is to be shown in the inspector.
    void mapRequested(relascope::MapKind kind, int layer, int index);
    /// Example `example` of that split is to be shown in the inspector, with objects i and j.
    void exampleRequested(const QString& split, qint64 example, qint64 i, qint64 j);

protected:
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void addTab(const core::Analysis& analysis);
    void activate();
    void showNote();

    std::unique_ptr<MeasureController> m_c;
    UndoHistory* m_undo;
    widgets::PanelHead* m_head;
    QLabel* m_note;
    QTabBar* m_bar;
    QStackedWidget* m_pages;
    std::map<std::string, AnalysisTab*> m_tabs;
};

}  // namespace relascope::app
