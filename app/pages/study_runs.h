// SPDX-License-Identifier: GPL-3.0-or-later
// The grid of the Study page: every run of the study, and the measure that it shows.
#pragma once

#include <QWidget>
#include <optional>

#include "types/view.h"

#include "widgets/study/efficiency_plot.h"

class QComboBox;

namespace relascope::widgets {
class PanelHead;
class StudyGrid;
class StudyGridLegend;
class ToggleChip;
}  // namespace relascope::widgets

namespace relascope::app {

class StudyController;

/// The study and its measure as the command that draws it, or that prints its table; nullopt for a
/// study of another machine, or one without a finished run.
std::optional<View> describeStudy(const StudyController& controller, bool printed = false);

class StudyRuns : public QWidget {
    Q_OBJECT
public:
    explicit StudyRuns(StudyController& controller, QWidget* parent = nullptr);

    /// Shows the study read by the controller, or nothing.
    void showStudy();
    /// Chooses the next failed run and returns its error message; empty if no run has failed.
    QString chooseFailed();

    widgets::StudyGrid* grid() const { return m_grid; }

private:
    void addMenu();
    void showMeasures();

    StudyController& m_c;
    widgets::PanelHead* m_head;
    widgets::StudyGrid* m_grid;
    widgets::StudyGridLegend* m_legend;
    QComboBox* m_measure;
};

// The sample-efficiency plot of the Study page and its controls.

class StudyCurves : public QWidget {
    Q_OBJECT
public:
    explicit StudyCurves(StudyController& controller, QWidget* parent = nullptr);

    /// Shows the study read by the controller, or nothing.
    void showStudy();
    void setBand(widgets::StudyBand band);
    /// Gives the plot and its controls the look of a view.
    void setLook(const StudyLook& look);

    widgets::EfficiencyPlot* plot() const { return m_plot; }
    widgets::ToggleChip* logChip() const { return m_log; }
    widgets::ToggleChip* publishedChip() const { return m_published; }
    widgets::ToggleChip* referenceChip() const { return m_reference; }

private:
    void addMenu();
    std::optional<View> described() const;

    StudyController& m_c;
    widgets::PanelHead* m_head;
    widgets::EfficiencyPlot* m_plot;
    QComboBox* m_band;
    widgets::ToggleChip *m_log, *m_published, *m_reference;
};

}  // namespace relascope::app
