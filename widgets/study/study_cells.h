// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of a study in the cells of its layout: means, range of values, and texts. No painting.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include <QHash>
#include <QString>
#include <QStringList>

#include "types/study.h"

namespace relascope::widgets {

// Layout of a study in rows and columns, and the format of its metric.

/// The metric that is shown, and its format.
struct StudyMetric {
    QString name = QStringLiteral("accuracy");
    QString split;        ///< "hexos"
    bool percent = true;  ///< a fraction, written as per cent
    bool lowerIsBetter = false;

    /// "96.7" (per cent, without its sign), "0.4123", a dash for NaN.
    QString text(double value) const;
    /// "96.7 ± 0.4", or the mean alone if there is no error.
    QString text(double mean, double error) const;
    QString unit() const { return percent ? QStringLiteral("%") : QString(); }
    /// "accuracy on hexos, %"
    QString title() const;
    bool operator==(const StudyMetric&) const = default;
};

/// "dat", "abstractor, n_heads_ra=2": the name of a series as in StudyPoint.
QString studySeries(const StudyPlan& plan, const std::string& model,
                    const std::vector<std::string>& values);

/// Rows are models with values of varied options. Columns are training sizes or, for a single size,
/// the values of the last option with several values.
class StudyLayout {
public:
    struct Row {
        QString name;                 ///< name in the legend: "dat", "dat, n_heads_ra=2"
        QString title;                ///< the model
        QString detail;               ///< "n_heads_ra=2 · 341K": what else distinguishes it
        std::int64_t parameters = 0;  ///< number in the first column with runs
        bool sizeVaries = false;  ///< another column has another number: it depends on the option
    };
    struct Column {
        QString title;  ///< "1,000", "relu"
        double x = 0.0;
    };
    struct Place {
        int row = -1, column = -1;
        bool operator==(const Place&) const = default;
    };

    StudyLayout() = default;
    explicit StudyLayout(const StudyInfo& study);

    const std::vector<Row>& rows() const { return m_rows; }
    const std::vector<Column>& columns() const { return m_columns; }
    Place place(const QString& series, std::int64_t size) const;
    /// The row of a series, also for training sizes that the study does not have.
    int row(const QString& series) const { return m_seriesRow.value(series, -1); }
    const QString& axisTitle() const { return m_axis; }
    bool sizesAcross() const { return m_sizes; }
    /// Whether columns are numbers; otherwise they are names without an order.
    bool numeric() const { return m_numeric; }
    /// A row or column for accessible texts and tooltips: "1,000 training examples".
    QString columnText(int column) const;

private:
    QString m_axis;
    bool m_sizes = true, m_numeric = true;
    std::vector<Row> m_rows;
    std::vector<Column> m_columns;
    QHash<QString, int> m_seriesRow, m_seriesColumn;
    QHash<std::int64_t, int> m_sizeColumn;
};

/// One run and its cell; runs of the same cell are shown side by side in order.
struct GridRun {
    int row = 0, column = 0;
    QString name, path;  ///< the path is empty before the run has started
    std::int64_t seed = 0;
    CellState state = CellState::Waiting;
    double progress = 0.0;  ///< 0..1, for runs that have started
    double value = std::numeric_limits<double>::quiet_NaN();
    double seconds = 0.0;  ///< duration of the training
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
