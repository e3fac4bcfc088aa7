// SPDX-License-Identifier: GPL-3.0-or-later
// The table of runs as a model. Private to widgets/tables.
#pragma once

#include <string>
#include <vector>

#include <QSet>
#include <QString>

#include "widgets/kit/column_model.h"
#include "widgets/tables/runs_table.h"

namespace relascope::widgets {

class RunsModel : public ColumnModel<TableRow> {
    Q_OBJECT
public:
    /// After the first, columns are in the order of core::runColumns().
    enum Column {
        Overlay,
        Run,
        Model,
        Parameters,
        Seed,
        State,
        Loss,
        Kept,  ///< the run's main metric on validation, of the weights that it keeps
        Test,  ///< its metric on the first test split
        Published,
        Difference,
        Time,
        Tags,
        NoteText,
        Columns
    };
    enum Role { PathRole = Qt::UserRole };
    explicit RunsModel(QObject* parent = nullptr);

    void setRows(std::vector<TableRow> rows);
    QSet<QString> overlaid;
    /// Shows the rows that match all words and comparisons: "vidat acc > 85 seed=0". Returns an
    /// error message, or an empty text.
    QString setFilterText(const QString& text);
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    /// The common metric of all rows in a column (Kept or Test); empty if they differ or there is
    /// none.
    const std::string& metricOf(int column) const { return m_metrics[column == Test]; }

Q_SIGNALS:
    void overlayChanged();
    void noteEdited(const QString& path, const QString& note);

private:
    ModelColumn<TableRow> scoreColumn(int column);
    bool isOverlaid(const TableRow& row) const;

    std::string m_metrics[2];  ///< metrics of Kept and Test
    bool m_mixed[2] = {false, false};
};

}  // namespace relascope::widgets
