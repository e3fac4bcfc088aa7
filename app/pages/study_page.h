// SPDX-License-Identifier: GPL-3.0-or-later
// The Study page: a grid of runs, the sample-efficiency plot, and tables of results.
#pragma once

#include <QWidget>
#include <functional>

class QComboBox;
class QPushButton;
class QSpinBox;
class QSplitter;
class QStackedLayout;
class QToolButton;

namespace relascope::widgets {
class EmptyState;
class StudyFailures;
class StudyProgressLine;
class StudyTable;
}  // namespace relascope::widgets

namespace relascope::app {

class Messages;
class NewStudyDialog;
class StudyController;
class StudyCurves;
class StudyRuns;

/// Shows the study read by the controller, and starts and stops it.
class StudyPage : public QWidget {
    Q_OBJECT
public:
    StudyPage(StudyController& controller, Messages& messages, QWidget* parent = nullptr);

    StudyRuns* runs() const { return m_runs; }
    StudyCurves* curves() const { return m_curves; }
    widgets::StudyTable* table() const { return m_table; }
    widgets::EmptyState* emptyState() const { return m_empty; }
    QComboBox* chooser() const { return m_chooser; }
    QPushButton* startButton() const { return m_start; }
    QSpinBox* jobsBox() const { return m_jobs; }
    widgets::StudyProgressLine* progress() const { return m_progress; }
    QSplitter* rows() const { return m_rows; }
    QSplitter* columns() const { return m_columns; }

    /// The experiment selected for a new study.
    std::function<QString()> preset = [] { return QString(); };
    /// Shows the dialog; true when it was accepted. Replaced in tests.
    std::function<bool(NewStudyDialog&)> ask;
    /// Asks for a study's folder; replaced in tests.
    std::function<QString()> askFolder;

public Q_SLOTS:
    void newStudy();
    void openStudy();
    void toggleWork();
    void retryFailed();
    void showSlurm();
    void openFolder();

Q_SIGNALS:
    /// The user asked to inspect a run of the study.
    void runRequested(const QString& path);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeBar();
    void addMenu(QToolButton* button);
    void layOut();
    void addTableMenu();
    void wire();
    void fillChooser();
    void studyChosen(int index);
    void showStudy();
    void showWork();
    void showFailed();
    void saveLatex();
    void openPath(const QString& path);
    QString retryDisabledReason() const;

    StudyController& m_c;
    Messages& m_messages;
    QStackedLayout *m_stack = nullptr, *m_results = nullptr;
    widgets::EmptyState *m_empty, *m_nothingYet;
    QComboBox* m_chooser;
    QPushButton* m_start;
    QSpinBox* m_jobs;
    widgets::StudyProgressLine* m_progress;
    widgets::StudyFailures* m_failures;
    StudyRuns* m_runs;
    StudyCurves* m_curves;
    widgets::StudyTable* m_table;
    QSplitter *m_rows, *m_columns;
};

}  // namespace relascope::app
