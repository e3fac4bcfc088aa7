// SPDX-License-Identifier: GPL-3.0-or-later
// Models whose columns are declared: order, filter, updates, trees.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTreeView>
#include <cmath>

#include "support/rooms.h"
#include "widgets/kit/column_model.h"

using namespace relascope;

namespace {

struct Mark {
    QString name;
    double value = 0.0;
};

struct Marks : ColumnModel<Mark> {
    Marks();
    QString shown(const QModelIndex& parent = {}) const {
        QString text;
        for (int row = 0; row < rowCount(parent); ++row)
            text += index(row, 0, parent).data().toString() + u' ';
        return text.trimmed();
    }
};

Marks::Marks() {
    std::vector<ModelColumn<Mark>> columns(2);
    columns[0] = {
        .title = "Name", .tip = "Of the layer", .text = [](const Mark& m) { return m.name; }};
    columns[0].flags = Qt::ItemIsEditable;
    columns[0].edit = [](Mark& m, const QVariant& value, int) {
        if (value.toString().isEmpty()) return false;
        m.name = value.toString();
        return true;
    };
    columns[1] = {.title = "Value", .number = true, .text = [](const Mark& m) {
                      return QString::number(m.value);
                  }};
    columns[1].key = [](const Mark& m) { return m.value; };
    setColumns(std::move(columns));
}

const std::vector<Mark> kMarks = {{"layer 10", 2}, {"layer 2", std::nan("")}, {"layer 1", 7}};

bool sameName(const Mark& a, const Mark& b) {
    return a.name == b.name;
}

}  // namespace

TEST(ColumnModel, SortsTextsNaturallyAndMissingNumbersLast) {
    Marks model;
    model.setRows(kMarks);
    EXPECT_EQ(model.shown(), "layer 10 layer 2 layer 1");
    model.sort(0);
    EXPECT_EQ(model.shown(), "layer 1 layer 2 layer 10");
    model.sort(1);
    EXPECT_EQ(model.shown(), "layer 10 layer 1 layer 2");
    model.sort(1, Qt::DescendingOrder);
    EXPECT_EQ(model.shown(), "layer 1 layer 10 layer 2");
    model.sort(-1);
    EXPECT_EQ(model.shown(), "layer 10 layer 2 layer 1");
    EXPECT_EQ(model.headerData(0, Qt::Horizontal, Qt::ToolTipRole), "Of the layer");
    EXPECT_EQ(model.headerData(1, Qt::Horizontal, Qt::TextAlignmentRole),
              int(Qt::AlignRight | Qt::AlignVCenter));
}

TEST(ColumnModel, SelectionStaysWithItsRow) {
    Marks model;
    model.setRows(kMarks);
    QTableView view;
    view.setModel(&model);
    view.setSelectionBehavior(QAbstractItemView::SelectRows);
    view.selectRow(2);
    const auto selected = [&] {
        QString text;
        for (const auto& at : view.selectionModel()->selectedRows()) text += at.data().toString();
        return text;
    };
    model.sort(0);
    EXPECT_EQ(selected(), "layer 1");
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    auto changed = kMarks;
    changed[2].value = -1;
    model.setRows(changed, sameName);
    EXPECT_EQ(reset.size(), 0) << "the rows are the ones before";
    model.sort(1);
    EXPECT_EQ(model.shown(), "layer 1 layer 10 layer 2");
    EXPECT_EQ(selected(), "layer 1");
    model.setFilter([](const Mark& m) { return m.name != "layer 10"; });
    EXPECT_EQ(model.shown(), "layer 1 layer 2");
    EXPECT_EQ(view.verticalHeader()->count(), 2);
    EXPECT_EQ(selected(), "layer 1");
    model.setFilter([](const Mark& m) { return m.name == "layer 10"; });
    EXPECT_EQ(selected(), "") << "a row that is not shown is not selected";
    model.setFilter({});
    EXPECT_EQ(model.rowCount(), 3);
    model.setRows({{"layer 1", 3}}, sameName);
    EXPECT_EQ(reset.size(), 1) << "other rows";
}

TEST(ColumnModel, AnUpdateSortsAndFiltersAgain) {
    Marks model;
    model.setRows(kMarks);
    model.sort(1);
    model.setFilter([](const Mark& m) { return m.value < 5; });
    EXPECT_EQ(model.shown(), "layer 10");
    auto changed = kMarks;
    changed[1].value = 1;
    model.setRows(changed, sameName);
    EXPECT_EQ(model.shown(), "layer 2 layer 10");
}

TEST(ColumnModel, TakesAnEditedValueOrRefusesIt) {
    Marks model;
    model.setRows(kMarks);
    model.sort(0);
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    EXPECT_FALSE(model.setData(model.index(0, 1), "5"));
    EXPECT_FALSE(model.setData(model.index(0, 0), ""));
    EXPECT_EQ(changed.size(), 0);
    EXPECT_TRUE(model.setData(model.index(0, 0), "layer 3"));
    EXPECT_EQ(model.shown(), "layer 2 layer 3 layer 10") << "it moves to its place";
    EXPECT_TRUE(model.flags(model.index(0, 0)) & Qt::ItemIsEditable);
    EXPECT_FALSE(model.flags(model.index(0, 1)) & Qt::ItemIsEditable);
}

TEST(ColumnModel, SortsATreeBelowEachRow) {
    Marks model;
    model.setTree({{"b", 0}, {"b2", 2}, {"a", 1}, {"b1", 1}}, {-1, 0, -1, 0});
    QTreeView view;
    view.setModel(&model);
    view.expand(model.index(0, 0));
    EXPECT_EQ(model.shown(), "b a");
    EXPECT_EQ(model.shown(model.index(0, 0)), "b2 b1");
    model.sort(0);
    EXPECT_EQ(model.shown(), "a b");
    EXPECT_EQ(model.shown(model.index(1, 0)), "b1 b2");
    EXPECT_TRUE(view.isExpanded(model.index(1, 0)));
    const auto leaf = model.index(1, 0, model.index(1, 0));
    EXPECT_EQ(model.rowOf(leaf)->name, "b2");
    EXPECT_EQ(leaf.parent(), model.index(1, 0));
    EXPECT_EQ(model.indexOf(1), leaf);
}

TEST(ColumnModel, KeepsUpWithTenThousandRows) {
    Marks model;
    std::vector<Mark> rows;
    for (int k = 0; k < 10000; ++k)
        rows.push_back({QString("run %1").arg(k * 7919 % 10000), double(k % 97)});
    model.setRows(rows);
    model.sort(0);
    EXPECT_EQ(model.index(9999, 0).data().toString(), "run 9999");
    model.sort(1, Qt::DescendingOrder);
    EXPECT_EQ(model.rowOf(model.index(0, 0))->value, 96.0);
    model.setFilter([](const Mark& m) { return m.value < 10; });
    model.setRows(rows, sameName);
    EXPECT_EQ(model.index(0, 1).data().toString(), "9");
    EXPECT_EQ(model.rowCount(), 1039);
}
