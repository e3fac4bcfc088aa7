// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_table_model.h"

#include <cmath>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

void StudyTableModel::setTable(QStringList heads, QStringList headTips, QStringList rows,
                               std::vector<std::vector<Cell>> cells) {
    const bool same = heads.size() == m_heads.size() && rows.size() == m_rows.size();
    if (same && heads == m_heads && headTips == m_headTips && rows == m_rows && cells == m_cells)
        return;
    if (!same) beginResetModel();
    m_heads = std::move(heads);
    m_headTips = std::move(headTips);
    m_rows = std::move(rows);
    m_cells = std::move(cells);
    if (!same) return endResetModel();
    if (m_rows.isEmpty() || m_heads.isEmpty()) return;
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    Q_EMIT headerDataChanged(Qt::Vertical, 0, rowCount() - 1);
}

bool StudyTableModel::hasPublished() const {
    for (const auto& row : m_cells)
        for (const auto& cell : row)
            if (!cell.published.isEmpty()) return true;
    return false;
}

int StudyTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int StudyTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_heads.size());
}

QVariant StudyTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Cell& cell =
        m_cells[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole:
            return cell.text;
        case Qt::ToolTipRole:
            return cell.tip.isEmpty() ? QVariant() : plainTip(cell.tip);
        case Qt::AccessibleTextRole:
            return cell.published.isEmpty()
                       ? cell.text
                       : cell.text + QStringLiteral(", published ") + cell.published;
        case Qt::TextAlignmentRole:
            return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
        case Qt::ForegroundRole:
            return cell.muted ? Theme::current().muted : Theme::current().text;
        case SortRole:
            return cell.sort;
        case PublishedRole:
            return cell.published;
        case BestRole:
            return cell.best;
        default:
            return {};
    }
}

QVariant StudyTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    const bool across = orientation == Qt::Horizontal;
    const QStringList& titles = across ? m_heads : m_rows;
    if (section < 0 || section >= titles.size()) return {};
    if (role == Qt::DisplayRole) return titles[section];
    if (role == Qt::ToolTipRole)
        return plainTip(across ? m_headTips.value(section) : titles[section]);
    if (role == ColorRole && !across) return section;
    if (role == Qt::TextAlignmentRole && across)
        return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

bool StudyTableOrder::lessThan(const QModelIndex& a, const QModelIndex& b) const {
    const double x = a.data(StudyTableModel::SortRole).toDouble();
    const double y = b.data(StudyTableModel::SortRole).toDouble();
    if (std::isnan(x) || std::isnan(y))
        return sortOrder() == Qt::AscendingOrder ? !std::isnan(x) : !std::isnan(y);
    return x < y;
}

}  // namespace relascope::widgets
