// SPDX-License-Identifier: GPL-3.0-or-later
// The table of runs as a model. Private to widgets/tables.
#pragma once

#include <QAbstractTableModel>
#include <QSet>
#include <QSortFilterProxyModel>
#include <map>
#include <vector>

#include "widgets/tables/runs_table.h"

namespace relascope::widgets {

class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Overlay,
        Run,
        Model,
        Parameters,
        Seed,
        State,
        Loss,
        Best,  ///< of the run's main metric
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
    /// The number with a name used in filters ("best"); NaN if there is none.
    double number(int row, const QString& name) const;
    /// The common metric of all rows in a column (Best or Test); empty if they differ or there is
    /// none.
    const std::string& metricOf(int column) const { return m_metrics[column == Test]; }
    /// Whether the rows of a column have different metrics.
    bool mixed(int column) const { return m_mixed[column == Test]; }
    /// The title of a column: "Best seq. acc. %".
    QString columnName(int column) const;
    /// The title that does not depend on the rows.
    static QString plainName(int column);

Q_SIGNALS:
    void overlayChanged();
    void noteEdited(const QString& path, const QString& note);

private:
    void findMetrics();

    std::vector<TableRow> m_rows;
    std::string m_metrics[2];  ///< of Best and Test
    bool m_mixed[2] = {false, false};
};

/// Filters by words and comparisons, all of which must match: "vidat best_acc > 85 seed=0".
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
