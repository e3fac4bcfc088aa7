// SPDX-License-Identifier: GPL-3.0-or-later
// The page Measure: what takes the model of the inspector apart. It can stand in a window of its
// own, beside the maps.
#pragma once

#include <QByteArray>
#include <QStackedWidget>

class QUndoStack;

namespace relascope::widgets {
class EmptyState;
}  // namespace relascope::widgets

namespace relascope::app {

class AnalysisWindow;
class Measurements;

class MeasurePage : public QStackedWidget {
    Q_OBJECT
public:
    MeasurePage(QUndoStack& history, Measurements& measurements);
    ~MeasurePage() override;

    /// The analyses, made when they are first asked for; null before.
    AnalysisWindow* made() const { return m_analyses; }
    AnalysisWindow& analyses();
    /// Puts them into a window of their own, or back into the page.
    void setApart(bool apart);
    bool isApart() const { return m_apart; }

    /// AnalysisWindow::saveOptions(), also before the analyses are made.
    QByteArray saveOptions() const;
    void restoreOptions(const QByteArray& options);

Q_SIGNALS:
    void analysesMade();  ///< to be connected
    /// The page or its window is to show what the inspector shows now.
    void subjectWanted();

protected:
    void showEvent(QShowEvent* event) override;

private:
    QUndoStack& m_history;
    Measurements& m_measurements;
    AnalysisWindow* m_analyses = nullptr;
    widgets::EmptyState* m_away;  ///< in their place while they are in their own window
    QByteArray m_options;         ///< until they are made
    bool m_apart = false;
};

}  // namespace relascope::app
