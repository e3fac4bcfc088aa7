// SPDX-License-Identifier: GPL-3.0-or-later
// The model of a sortable table of results. Private to widgets/study.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <vector>

namespace relascope::widgets {

class StudyTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role { SortRole = Qt::UserRole, PublishedRole, BestRole, ColorRole };
    struct Cell {
        QString text, published, tip;
        double sort = 0.0;  ///< NaN goes last
        bool best = false;  ///< of its column
        bool muted = false;
        bool operator==(const Cell&) const = default;
    };
    using QAbstractTableModel::QAbstractTableModel;

    /// Tables of the same shape are updated in place, which keeps selection and scroll position.
    void setTable(QStringList heads, QStringList headTips, QStringList rows,
                  std::vector<std::vector<Cell>> cells);
    bool hasPublished() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QStringList m_heads, m_headTips, m_rows;
    std::vector<std::vector<Cell>> m_cells;
};

/// Missing values are last in either order.
class StudyTableOrder : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

protected:
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override;
};

}  // namespace relascope::widgets
