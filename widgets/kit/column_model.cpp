// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/kit/column_model.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <QCollator>
#include <QLocale>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

namespace {

const QCollator& naturalOrder() {
    static const QCollator collator = [] {
        QCollator one(QLocale(QLocale::English));  // the collator of LANG=C takes no numbers
        one.setNumericMode(true);
        return one;
    }();
    return collator;
}

}  // namespace

QVariant defaultLook(bool number, int role) {
    switch (role) {
        case Qt::TextAlignmentRole:
            return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        case Qt::FontRole:
            return number ? numberFont(12) : smallFont();
        case Qt::ForegroundRole:
            return Theme::current().text;
        default:
            return {};
    }
}

const std::vector<int>& RowModel::below(int row) const {
    static const std::vector<int> none;
    const auto at = static_cast<std::size_t>(row + 1);
    return at < m_below.size() ? m_below[at] : none;
}

QModelIndex RowModel::indexOf(int row, int column) const {
    if (row < 0 || row >= static_cast<int>(m_places.size()) || column < 0) return {};
    const int place = m_places[static_cast<std::size_t>(row)];
    return place < 0 ? QModelIndex() : createIndex(place, column, static_cast<quintptr>(row));
}

QModelIndex RowModel::index(int row, int column, const QModelIndex& parent) const {
    const auto& rows = below(rowAt(parent));
    if (row < 0 || row >= static_cast<int>(rows.size()) || column >= columnCount()) return {};
    return indexOf(rows[static_cast<std::size_t>(row)], column);
}
QModelIndex RowModel::parent(const QModelIndex& index) const {
    return index.isValid() && !m_parents.empty() ? indexOf(m_parents[index.internalId()])
                                                 : QModelIndex();
}
int RowModel::rowCount(const QModelIndex& parent) const {
    return parent.column() > 0 ? 0 : static_cast<int>(below(rowAt(parent)).size());
}

void RowModel::take(int rows, std::vector<int> parents) {
    m_parents = std::move(parents);
    m_places.assign(static_cast<std::size_t>(rows), -1);
    place();
}

void RowModel::place() {
    m_below.assign(m_parents.empty() ? 1 : m_places.size() + 1, {});
    for (std::size_t row = 0; row < m_places.size(); ++row)
        if (isShown(static_cast<int>(row)))
            m_below[m_parents.empty() ? 0 : static_cast<std::size_t>(m_parents[row] + 1)].push_back(
                static_cast<int>(row));
    if (m_sorted >= 0 && m_sorted < columnCount()) {
        struct Key {
            std::optional<QCollatorSortKey> text;
            double number;
        };
        std::vector<Key> keys;
        for (std::size_t row = 0; row < m_places.size(); ++row) {
            const SortKey key = sortKey(static_cast<int>(row), m_sorted);
            keys.push_back({std::nullopt, key.number});
            if (!key.text.isEmpty()) keys.back().text = naturalOrder().sortKey(key.text);
        }
        const bool up = m_order == Qt::AscendingOrder;
        const auto before = [&](int a, int b) {
            const Key &x = keys[static_cast<std::size_t>(a)],
                      &y = keys[static_cast<std::size_t>(b)];
            if (std::isnan(x.number) || std::isnan(y.number))
                return !std::isnan(x.number) && std::isnan(y.number);
            const int texts =
                x.text && y.text ? x.text->compare(*y.text) : int(bool(x.text)) - int(bool(y.text));
            if (texts != 0) return up ? texts < 0 : texts > 0;
            return up ? x.number < y.number : x.number > y.number;
        };
        for (auto& rows : m_below) std::stable_sort(rows.begin(), rows.end(), before);
    }
    std::fill(m_places.begin(), m_places.end(), -1);
    for (const auto& rows : m_below)
        for (std::size_t at = 0; at < rows.size(); ++at)
            m_places[static_cast<std::size_t>(rows[at])] = static_cast<int>(at);
}

void RowModel::arrange() {
    Q_EMIT layoutAboutToBeChanged();
    const auto before = persistentIndexList();
    place();
    QModelIndexList after;
    for (const QModelIndex& old : before) after << indexOf(rowAt(old), old.column());
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged();
}

void RowModel::sort(int column, Qt::SortOrder order) {
    if (column == m_sorted && order == m_order) return;
    m_sorted = column;
    m_order = order;
    arrange();
}

}  // namespace relascope::widgets
