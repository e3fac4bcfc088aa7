// SPDX-License-Identifier: GPL-3.0-or-later
// A table of an answer: columns with a title are shown as people read them, a click on a title
// sorts, a click or Enter on a row chooses it, and a figure has its first rows. Of columns
// without a title "tip" holds the tips of the rows, and "KEY strong" says which cells of KEY are
// bold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QImage>
#include <QTableView>

#include "types/answer.h"
#include "widgets/kit/column_model.h"
#include "widgets/kit/signed_bar.h"

class QPainter;

namespace relascope::widgets {

class TableModel : public RowModel {
public:
    /// The number of a cell, NaN for texts.
    enum Role { Value = Qt::UserRole };
    using RowModel::RowModel;

    /// `pictures`: those that columns of pictures count.
    void setTable(Table table, const std::vector<Image>& pictures = {});
    const Table& table() const { return m_table; }
    /// The picture of a cell; null: none.
    QImage picture(int row, int column) const;
    /// Whether rows have room for pictures.
    bool hasPictures() const;
    /// Whether the row belongs to the one above it, as its column "inside" says: it is indented and
    /// muted, and the table keeps its order.
    bool isInside(int row) const;
    /// The row of the table that is shown there, and back; -1: none.
    int rowShownAt(int at) const { return rowAt(index(at, 0)); }
    int placeOf(int row) const { return indexOf(row).row(); }
    const Column& columnAt(int column) const {
        return m_table.columns[m_columns[std::size_t(column)]];
    }
    /// The range of the column and its intervals; 0 always belongs to it.
    const BarRange& range(int column) const { return m_ranges[static_cast<std::size_t>(column)]; }

    /// What the first rows of the column need, px.
    int textWidth(int column) const { return m_widths[static_cast<std::size_t>(column)]; }

    int columnCount(const QModelIndex& = {}) const override {
        return static_cast<int>(m_columns.size());
    }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    SortKey sortKey(int row, int column) const override;

private:
    Table m_table;
    std::vector<std::size_t> m_columns;  ///< columns that are shown
    std::vector<BarRange> m_ranges;      ///< ranges of their bars
    std::vector<int> m_widths;           ///< widths of their texts, px
    std::vector<QImage> m_pictures;      ///< pictures of the answer
};

class TableView : public QTableView {
    Q_OBJECT
public:
    explicit TableView(const QString& name, QWidget* parent = nullptr);

    /// The current row stays current, by its name in the first column or its number in the table.
    void setTable(const Table& table, const std::vector<Image>& pictures = {});
    const Table& table() const { return m_model->table(); }
    TableModel* tableModel() const { return m_model; }
    int currentRow() const;  ///< its number in the table; -1: none
    void chooseRow(int row);
    /// As shown: "+2.1 [+0.4, +3.8]".
    QString text(int row, const std::string& column) const;

    /// The width of a figure that cuts off no number, px.
    int figureWidth() const;
    // A figure of that width with the first `most` rows, as they are sorted, and how many are left
    // out.
    int figureHeight(int most = 40) const;
    void paintFigure(QPainter& painter, int width, int most = 40) const;

Q_SIGNALS:
    void rowChosen(int row);  ///< number in the table
    /// Another row is current, by keys too; -1: none.
    void currentRowChanged(int row);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();
    void copy() const;
    std::vector<int> widths(int width) const;

    TableModel* m_model;
};

}  // namespace relascope::widgets
