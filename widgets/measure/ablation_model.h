// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of an ablation table for a view: part, group, and for each way the change of the metric
// and the share of changed answers.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "types/edit_results.h"
#include "widgets/measure/signed_bar.h"

namespace relascope::widgets {

class AblationModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum class Column { Part, Group, Change, Changed, Norm };
    /// Of a cell of Column::Change: the change and its interval as numbers, and the latter as text.
    enum Role { Value = Qt::UserRole, Low, High, Interval };
    using QAbstractTableModel::QAbstractTableModel;

    /// Rows that were there before keep their selection.
    void setTable(AblationTable table);
    const AblationTable& table() const { return m_table; }
    /// Of all changes with their intervals.
    const BarRange& range() const { return m_range; }
    const AblationRow* rowAt(int row) const;
    Column kind(int column) const;
    /// The way that a column is about; zero for the others.
    EditOp wayOf(int column) const;
    int indexOfPart(const std::string& part) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    /// Column -1: by the largest |change| of any way, as measured.
    void sort(int column, Qt::SortOrder order) override;

private:
    const AblationRow::Way* wayAt(const AblationRow& row, int column) const;
    void order();
    QVariant display(const AblationRow& row, int column) const;
    QString tip(const AblationRow& row, int column) const;

    AblationTable m_table;
    std::vector<EditOp> m_ways;
    std::vector<int> m_order;  ///< rows of the table, as shown
    BarRange m_range;
    int m_column = -1;
    Qt::SortOrder m_direction = Qt::DescendingOrder;
};

}  // namespace relascope::widgets
