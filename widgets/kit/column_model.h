// SPDX-License-Identifier: GPL-3.0-or-later
// Item models whose columns are declared: what a column says of a row, by what it sorts, and how
// it looks. Rows may lie below others, as in a tree.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <QAbstractItemModel>

namespace relascope::widgets {

/// By what a row sorts: texts in natural order ("layer 2" is before "layer 10"), rows of one text
/// by the number. NaN is last in either direction.
struct SortKey {
    QString text = {};
    double number = 0.0;

    SortKey(const QString& text) : text(text) {}
    SortKey(double number) : number(number) {}
    SortKey(const QString& text, double number) : text(text), number(number) {}
};

/// Rows in their places: which are shown, below which others, and in which order. Selection and
/// current row stay with their rows when rows are sorted, filtered or updated.
class RowModel : public QAbstractItemModel {
public:
    using QAbstractItemModel::QAbstractItemModel;

    /// The row at an index, as it was given; -1: none.
    int rowAt(const QModelIndex& index) const {
        return index.isValid() ? static_cast<int>(index.internalId()) : -1;
    }
    /// Where a row is shown; invalid while it is not.
    QModelIndex indexOf(int row, int column = 0) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    /// Sorts the rows below each row; column -1: as they were given. Equal rows keep their order.
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

protected:
    /// Takes `rows` rows anew, between beginResetModel() and endResetModel(). `parents` has for
    /// each the row above it, -1 at the top; empty: all are at the top.
    void take(int rows, std::vector<int> parents = {});
    /// Sorts and filters again, for rows that have changed.
    void arrange();
    int sortedColumn() const { return m_sorted; }
    void unsort() { m_sorted = -1; }  ///< before take()
    virtual SortKey sortKey(int row, int column) const = 0;
    virtual bool isShown(int) const { return true; }

private:
    void place();
    const std::vector<int>& below(int row) const;

    std::vector<int> m_parents;             ///< empty: all rows are at the top
    std::vector<std::vector<int>> m_below;  ///< rows at the top, then below each row of a tree
    std::vector<int> m_places;              ///< below its parent; -1: not shown
    int m_sorted = -1;
    Qt::SortOrder m_order = Qt::AscendingOrder;
};

/// A column of a ColumnModel. What is left out is as in any table: words at the left, numbers at
/// the right in their font, no tip.
template <class Row>
struct ModelColumn {
    QString title = {};
    QString tip = {};     ///< tip of the title
    bool number = false;  ///< its cells are at the right, in the font of numbers
    std::function<QString(const Row&)> text = {};
    std::function<SortKey(const Row&)> key = {};  ///< empty: the text
    /// What the column itself says for a role (font, ink, tip, decoration); invalid: the default.
    std::function<QVariant(const Row&, int role)> look = {};
    Qt::ItemFlags flags = Qt::NoItemFlags;  ///< besides that cells are enabled and selectable
    /// Takes an edited value, false: refused.
    std::function<bool(Row&, const QVariant&, int role)> edit = {};
};

QVariant defaultLook(bool number, int role);

template <class Row>
class ColumnModel : public RowModel {
public:
    using Columns = std::vector<ModelColumn<Row>>;
    using RowModel::RowModel;

    const Columns& columns() const { return m_columns; }
    const std::vector<Row>& rows() const { return m_rows; }
    const Row* rowOf(const QModelIndex& index) const {
        return index.isValid() ? &m_rows[static_cast<std::size_t>(rowAt(index))] : nullptr;
    }

    void setColumns(Columns columns) {
        beginResetModel();
        m_columns = std::move(columns);
        endResetModel();
    }
    /// Replaces the rows. Where `same` holds for each of them and the one in its place before, they
    /// are updated: selection, scroll position and an open editor stay.
    void setRows(std::vector<Row> rows,
                 const std::function<bool(const Row&, const Row&)>& same = {}) {
        bool all = same && rows.size() == m_rows.size() && !rows.empty();
        for (std::size_t i = 0; all && i < rows.size(); ++i) all = same(rows[i], m_rows[i]);
        if (!all) return setTree(std::move(rows), {});
        m_rows = std::move(rows);
        arrange();
        Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
        if (rowCount() == 0) return;
        Q_EMIT headerDataChanged(Qt::Vertical, 0, rowCount() - 1);
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
    /// Replaces the rows by a tree; `parents` as in RowModel::take().
    void setTree(std::vector<Row> rows, std::vector<int> parents) {
        beginResetModel();
        m_rows = std::move(rows);
        take(static_cast<int>(m_rows.size()), std::move(parents));
        endResetModel();
    }
    /// Shows the rows for which `filter` holds; empty: all.
    void setFilter(std::function<bool(const Row&)> filter) {
        m_filter = std::move(filter);
        arrange();
    }
    /// What the heads of rows show.
    void setHeads(std::function<QVariant(const Row&, int role)> heads) {
        m_heads = std::move(heads);
    }

    int columnCount(const QModelIndex& = {}) const override {
        return static_cast<int>(m_columns.size());
    }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override {
        const Row* row = rowOf(index);
        if (!row) return {};
        const auto& column = of(index.column());
        if (column.look)
            if (QVariant look = column.look(*row, role); look.isValid()) return look;
        if (role == Qt::DisplayRole || role == Qt::EditRole)
            return column.text ? column.text(*row) : QVariant();
        return defaultLook(column.number, role);
    }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation == Qt::Vertical) {
            const Row* row = rowOf(index(section, 0));
            return m_heads && row ? m_heads(*row, role) : QVariant();
        }
        if (section < 0 || section >= columnCount()) return {};
        if (role == Qt::DisplayRole) return of(section).title;
        if (role == Qt::ToolTipRole && !of(section).tip.isEmpty()) return of(section).tip;
        return role == Qt::TextAlignmentRole ? defaultLook(of(section).number, role) : QVariant();
    }
    Qt::ItemFlags flags(const QModelIndex& index) const override {
        return RowModel::flags(index) |
               (index.isValid() ? of(index.column()).flags : Qt::NoItemFlags);
    }
    bool setData(const QModelIndex& index, const QVariant& value,
                 int role = Qt::EditRole) override {
        if (!index.isValid() || !of(index.column()).edit) return false;
        const int row = rowAt(index), column = index.column();
        if (!of(column).edit(m_rows[static_cast<std::size_t>(row)], value, role)) return false;
        if (column == sortedColumn()) arrange();
        Q_EMIT dataChanged(indexOf(row, column), indexOf(row, column));
        return true;
    }

protected:
    void setTitle(int column, const QString& title) {
        m_columns[static_cast<std::size_t>(column)].title = title;
    }
    SortKey sortKey(int row, int column) const override {
        const auto& of = this->of(column);
        const Row& from = m_rows[static_cast<std::size_t>(row)];
        return of.key ? of.key(from) : SortKey(of.text ? of.text(from) : QString());
    }
    bool isShown(int row) const override {
        return !m_filter || m_filter(m_rows[static_cast<std::size_t>(row)]);
    }

private:
    const ModelColumn<Row>& of(int column) const {
        return m_columns[static_cast<std::size_t>(column)];
    }

    Columns m_columns;
    std::vector<Row> m_rows;
    std::function<bool(const Row&)> m_filter;
    std::function<QVariant(const Row&, int role)> m_heads;
};

}  // namespace relascope::widgets
