// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of a study in the cells of its layout: their means, the range of their values, and their
// words. No painting.
#pragma once

#include <QString>
#include <limits>
#include <utility>
#include <vector>

#include "widgets/study/study_layout.h"

namespace relascope::widgets {

/// One run, at its place in the layout; runs of the same place stand side by side in their order.
struct GridRun {
    int row = 0, column = 0;
    QString name, path;  ///< the path is empty before the run began
    std::int64_t seed = 0;
    CellState state = CellState::Waiting;
    double progress = 0.0;  ///< 0..1, of what began
    double value = std::numeric_limits<double>::quiet_NaN();
    double seconds = 0.0;  ///< of training
    QString message, device;
    bool operator==(const GridRun&) const = default;
};

class StudyCells {
public:
    struct Cell {
        std::vector<int> runs;
        double mean = std::numeric_limits<double>::quiet_NaN();
    };

    void set(const StudyLayout& layout, const StudyMetric& metric, std::vector<GridRun> runs);

    const StudyLayout& layout() const { return m_layout; }
    const StudyMetric& metric() const { return m_metric; }
    const std::vector<GridRun>& runs() const { return m_runs; }
    bool contains(int index) const { return index >= 0 && index < static_cast<int>(m_runs.size()); }
    const GridRun& run(int index) const { return m_runs[static_cast<std::size_t>(index)]; }
    /// The index of a run; -1 where there is none of that name.
    int find(const QString& name) const;
    int rows() const { return static_cast<int>(m_layout.rows().size()); }
    int columns() const { return static_cast<int>(m_layout.columns().size()); }
    const Cell& cell(int row, int column) const;
    /// Of a run within its cell.
    int place(int index) const { return m_places[static_cast<std::size_t>(index)]; }
    int mostInACell() const { return m_most; }
    /// Colours go from the first to the second value (the better end is the brighter one).
    std::pair<double, double> range() const { return m_range; }
    /// The run that so many steps to the right, over the ends of cells, and down lead to; -1 where
    /// none stands there.
    int stepped(int index, int right, int down) const;

    /// What the pointer is told over a run.
    QString text(int index) const;
    /// "36 runs: 24 done, 2 running, 1 failed"
    QString summary() const;
    QString csv() const;

private:
    StudyLayout m_layout;
    StudyMetric m_metric;
    std::vector<GridRun> m_runs;
    std::vector<Cell> m_cells;  ///< row by row
    std::vector<int> m_places;
    int m_most = 1;
    std::pair<double, double> m_range{0.0, 1.0};
};

}  // namespace relascope::widgets
