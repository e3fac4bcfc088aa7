// SPDX-License-Identifier: GPL-3.0-or-later
// The grid of the Study page: every run of the study, and the measure that it shows.
#pragma once

#include <QWidget>

class QComboBox;

namespace relascope {

class PanelHead;
class StudyController;
class StudyGrid;
class StudyGridLegend;

class StudyRuns : public QWidget {
    Q_OBJECT
public:
    explicit StudyRuns(StudyController& controller, QWidget* parent = nullptr);

    /// Shows what the controller has read, or nothing.
    void showStudy();
    /// Chooses the next run that failed; what happened to it, in words. Empty: none has.
    QString chooseFailed();

    StudyGrid* grid() const { return m_grid; }
    QComboBox* measureBox() const { return m_measure; }

private:
    void addMenu();
    void showMeasures();

    StudyController& m_c;
    PanelHead* m_head;
    StudyGrid* m_grid;
    StudyGridLegend* m_legend;
    QComboBox* m_measure;
};

}  // namespace relascope
