// The Study page: a grid of runs that fills, the sample-efficiency plot, and the numbers.
#pragma once

#include <QWidget>
#include <functional>

#include "widgets/study/efficiency_plot.h"

class QComboBox;
class QPushButton;
class QSpinBox;
class QSplitter;
class QStackedLayout;

namespace relascope {

class EmptyState;
class Messages;
class NewStudyDialog;
class PanelHead;
class StudyController;
class StudyFailures;
class StudyGrid;
class StudyGridLegend;
class StudyProgressLine;
class StudyTable;
class ToggleChip;
class ViewMenu;

/// Shows what the controller has read and asks it for work; knows no folder of its own.
class StudyPage : public QWidget {
    Q_OBJECT
public:
    StudyPage(StudyController& controller, Messages& messages, QWidget* parent = nullptr);

    StudyGrid* grid() const { return m_grid; }
    EfficiencyPlot* plot() const { return m_plot; }
    StudyTable* table() const { return m_table; }
    EmptyState* emptyState() const { return m_empty; }
    QComboBox* chooser() const { return m_chooser; }
    QComboBox* measureBox() const { return m_measure; }
    QComboBox* bandBox() const { return m_band; }
    QPushButton* startButton() const { return m_start; }
    QSpinBox* jobsBox() const { return m_jobs; }
    StudyProgressLine* progress() const { return m_progress; }
    StudyFailures* failures() const { return m_failures; }
    ToggleChip* logChip() const { return m_log; }
    ToggleChip* publishedChip() const { return m_published; }
    ToggleChip* referenceChip() const { return m_reference; }
    QSplitter* rows() const { return m_rows; }
    QSplitter* columns() const { return m_columns; }

    void setBand(StudyBand band);
    /// Experiment that a new study begins with.
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
    /// A run of the study shall be looked into.
    void runRequested(const QString& path);
    void viewChanged();  ///< band, axis or published curves

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeBar();
    QWidget* makeGridPart();
    QWidget* makePlotPart();
    QWidget* makeTablePart();
    void wire();
    void fillChooser();
    void studyChosen(int index);
    void showStudy();
    void showMeasures();
    void showWork();
    void showFailed();
    void saveLatex();
    void openPath(const QString& path);
    QString obstacleToRetry() const;
    QString fileName(const char* what) const;

    StudyController& m_c;
    Messages& m_messages;
    QStackedLayout *m_stack, *m_results;
    EmptyState *m_empty, *m_nothingYet;
    QComboBox *m_chooser, *m_measure, *m_band;
    QPushButton* m_start;
    QSpinBox* m_jobs;
    StudyProgressLine* m_progress;
    StudyFailures* m_failures;
    PanelHead *m_gridHead, *m_plotHead;
    StudyGrid* m_grid;
    StudyGridLegend* m_legend;
    EfficiencyPlot* m_plot;
    StudyTable* m_table;
    ToggleChip *m_log, *m_published, *m_reference;
    QSplitter *m_rows, *m_columns;
    ViewMenu* m_gridMenu = nullptr;
};

}  // namespace relascope
