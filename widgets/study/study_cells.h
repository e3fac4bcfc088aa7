// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of a study in the cells of its layout: means, range of values, and texts. No painting.
#pragma once

#include <QString>
#include <limits>
#include <utility>
#include <vector>

#include "widgets/study/study_layout.h"

namespace relascope::widgets {

/// One run and its cell; runs of the same cell are shown side by side in order.
struct GridRun {
    int row = 0, column = 0;
    QString name, path;  ///< the path is empty before the run has started
    std::int64_t seed = 0;
    CellState state = CellState::Waiting;
    double progress = 0.0;  ///< 0..1, for runs that have started
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
    /// The index of a run by name, or -1.
    int find(const QString& name) const;
    int rows() const { return static_cast<int>(m_layout.rows().size()); }
    int columns() const { return static_cast<int>(m_layout.columns().size()); }
    const Cell& cell(int row, int column) const;
    /// The position of a run within its cell.
    int place(int index) const { return m_places[static_cast<std::size_t>(index)]; }
    int mostInACell() const { return m_most; }
    /// The values at the two ends of the colour scale (the better end is brighter).
    std::pair<double, double> range() const { return m_range; }
    /// The run reached by a number of steps to the right (across cells) and down, or -1.
    int stepped(int index, int right, int down) const;

    /// The tooltip of a run.
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
