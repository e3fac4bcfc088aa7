// SPDX-License-Identifier: GPL-3.0-or-later
// The differences between the options of runs.
#pragma once

#include <QWidget>
#include <cstddef>
#include <vector>

#include "types/answer.h"
#include "types/run_info.h"

class QMenu;
class QTableView;

namespace relascope::widgets {

template <class Row>
class ColumnModel;
class PanelHead;
class SegmentedControl;

struct DiffRun {
    RunInfo info;
    int colorIndex = 0;
};

/// One row per option, one column per run. The first run is the reference; different values are
/// highlighted.
class DiffTable : public QWidget {
    Q_OBJECT
public:
    explicit DiffTable(QWidget* parent = nullptr);

    void setRuns(std::vector<DiffRun> runs);
    void setAllFields(bool all);
    int differingFields() const { return m_differing; }
    /// The table shown, as optionsAnswer() (answers/runs_answer.h).
    QString csv() const;
    bool allFields() const { return m_all; }
    const std::vector<DiffRun>& runs() const { return m_runs; }
    QTableView* view() const { return m_view; }
    QMenu* menu() const { return m_menu; }

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    std::vector<DiffRun> m_runs;
    Answer m_answer;
    bool m_all = false;
    int m_differing = 0;
    PanelHead* m_head;
    SegmentedControl* m_which;
    ColumnModel<std::size_t>* m_model;  ///< rows of the options
    QTableView* m_view;
    QMenu* m_menu;
};

}  // namespace relascope::widgets
