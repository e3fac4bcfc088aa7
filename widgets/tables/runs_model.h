// SPDX-License-Identifier: GPL-3.0-or-later
// The table of runs as a model. Private to widgets/tables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <QAbstractTableModel>
#include <QSet>
#include <QSortFilterProxyModel>
#include <QString>

#include "types/metric.h"
#include "types/run_info.h"
#include "widgets/curves/curve_data.h"
#include "widgets/tables/runs_table.h"

namespace relascope::widgets {

// Texts of the main metric of a run and of its test results.

/// "93.0%", "6.21", "0.0123"; a dash if there is none.
QString metricText(std::string_view key, double value);
/// "sequence accuracy".
QString metricName(std::string_view key);
/// " ppl" behind a perplexity; nothing behind a percentage, which has its sign.
QString unitBehind(std::string_view metric);
/// For narrow places: "seq. acc.", "ppl".
QString metricShort(std::string_view key);

/// "validation accuracy 93.0% (weights of step 400); best seen 97.2% (step 480, not kept)"; empty
/// before the first evaluation.
QString keptText(const RunInfo& info);
/// "step 256, the best (stopped early at 576) · validation 95.9 % · seed 0": of the weights that
/// are shown, or without a step of those that the run keeps.
QString weightsText(const RunInfo& info, std::optional<qint64> shown);
/// One line per split: "pentos: accuracy 93.0%, loss 0.213 (10,000 examples)".
QString resultLines(const RunInfo& info);

class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    /// Behind the first, in the order of core::runColumns().
    enum Column {
        Overlay,
        Run,
        Model,
        Parameters,
        Seed,
        State,
        Loss,
        Kept,  ///< the run's main metric on validation, of the weights that it keeps
        Test,  ///< of the first test split
        Published,
        Difference,
        Time,
        Tags,
        NoteText,
        Columns
    };
    enum Role { SortRole = Qt::UserRole, ColorRole, PathRole, MetricRole };
    using QAbstractTableModel::QAbstractTableModel;

    void setRows(std::vector<TableRow> rows);
    const std::vector<TableRow>& rows() const { return m_rows; }
    QSet<QString> overlaid;
    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : Columns;
    }
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    /// The number with a name used in filters ("kept"); NaN if there is none.
    double number(int row, const QString& name) const;
    /// The common metric of all rows in a column (Kept or Test); empty if they differ or there is
    /// none.
    const std::string& metricOf(int column) const { return m_metrics[column == Test]; }
    /// Whether the rows of a column have different metrics.
    bool mixed(int column) const { return m_mixed[column == Test]; }
    /// The title of a column: "Val. seq. acc. %".
    QString columnName(int column) const;
    /// The title that does not depend on the rows.
    static QString plainName(int column);

Q_SIGNALS:
    void overlayChanged();
    void noteEdited(const QString& path, const QString& note);

private:
    void findMetrics();

    std::vector<TableRow> m_rows;
    std::string m_metrics[2];  ///< of Kept and Test
    bool m_mixed[2] = {false, false};
};

/// Filters by words and comparisons, all of which must match: "vidat acc > 85 seed=0".
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    /// Sets the filter. Returns an error message, or an empty text.
    QString setText(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    struct Comparison {
        QString name, sign;
        double value;
    };
    std::vector<Comparison> m_comparisons;
    QStringList m_terms;
};

}  // namespace relascope::widgets
