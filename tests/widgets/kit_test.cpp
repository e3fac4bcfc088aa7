// SPDX-License-Identifier: GPL-3.0-or-later
// The kit: a table of an answer as it is sorted, copied, kept and drawn, grids with gaps, and
// plots.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "support/rooms.h"
#include "widgets/analysis/tables_view.h"
#include "widgets/kit/grid_view.h"
#include "widgets/kit/plot_view.h"
#include "widgets/kit/table_view.h"
#include "widgets/theme/controls.h"

using namespace relascope;

namespace {

Table parts() {
    Table table{"parts", "Parts"};
    table.columns = {
        {"part", "Part", "", ColumnKind::Text, {}, {}, {}, {}, {}, {"layer 10", "layer 2", "b"}},
        {"change",
         "Change",
         "Of the loss",
         ColumnKind::Number,
         {1, true, true, true},
         {},
         "low",
         "high",
         {0.5, std::nan(""), -0.25}},
        {"low", "", "", ColumnKind::Number, {}, {}, {}, {}, {0.4, std::nan(""), -0.5}},
        {"high", "", "", ColumnKind::Number, {}, {}, {}, {}, {0.6, std::nan(""), 0.0}},
        {"nothing",
         "Nothing",
         "",
         ColumnKind::Number,
         {},
         {},
         {},
         {},
         {std::nan(""), std::nan(""), std::nan("")}},
        {"used", "Used", "", ColumnKind::Flag, {}, {}, {}, {}, {1, 0, 0}}};
    table.links = {{MapKind::Relation, 1, 3}, {MapKind::Relation, -1}, {MapKind::Symbols, 0, 0}};
    return table;
}

QStringList names(const TableView& view) {
    QStringList all;
    for (int row = 0; row < view.model()->rowCount(); ++row)
        all << view.model()->index(row, 0).data().toString();
    return all;
}

TEST(TableView, ShowsWhatHasATitleAndAValue) {
    TableView view(QStringLiteral("Parts"));
    view.setTable(parts());
    ASSERT_EQ(view.model()->columnCount(), 3) << "neither without a title nor without a value";
    EXPECT_EQ(view.model()->headerData(1, Qt::Horizontal, Qt::ToolTipRole).toString(),
              plainTip("Of the loss"));
    EXPECT_EQ(view.model()->index(0, 1).data().toString(), "+50.0 [+40.0, +60.0]");
    EXPECT_EQ(view.model()->index(1, 1).data().toString(), QString(QChar(0x2014)));
    EXPECT_EQ(view.model()->index(0, 2).data().toString(), "yes");
    EXPECT_EQ(view.text(2, "change").left(5), QString(QChar(0x2212)) + "25.0");
    const auto& range = view.tableModel()->range(1);
    EXPECT_EQ(range.low, -0.5);
    EXPECT_EQ(range.high, 0.6);
    EXPECT_EQ(view.accessibleName(), "Parts");
}

TEST(TableView, SortsWithWhatIsMissingLastAndKeepsTheRow) {
    TableView view(QStringLiteral("Parts"));
    view.resize(600, 300);
    view.setTable(parts());
    view.show();
    QSignalSpy chosen(&view, &TableView::rowChosen);
    view.chooseRow(2);
    for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
        view.sortByColumn(1, order);
        EXPECT_EQ(names(view).last(), "layer 2") << "it has no value";
        EXPECT_EQ(view.currentRow(), 2);
    }
    view.sortByColumn(0, Qt::AscendingOrder);
    EXPECT_EQ(names(view), (QStringList{"b", "layer 2", "layer 10"})) << "numbers as numbers";
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.currentRow(), 1);
    QTest::keyClick(&view, Qt::Key_Return);
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][0].toInt(), 1);
    // In another order: the row of that name.
    auto other = parts();
    for (auto& column : other.columns) {
        if (column.kind == ColumnKind::Text)
            std::reverse(column.texts.begin(), column.texts.end());
        else
            std::reverse(column.numbers.begin(), column.numbers.end());
    }
    other.columns[0].texts = {"new", "layer 2", "layer 10"};
    view.setTable(other);
    EXPECT_EQ(view.currentRow(), 1);
    other.columns[0].texts = {"layer 2", "x", "y"};
    view.setTable(other);
    EXPECT_EQ(view.currentRow(), 0);
    view.sortByColumn(-1, Qt::AscendingOrder);
    EXPECT_EQ(names(view).first(), "layer 2") << "as it was measured";
    view.setTable({});
    EXPECT_EQ(view.currentRow(), -1);
}

TEST(TableView, CopiesARowAndDrawsTheFirstOnes) {
    TableView view(QStringLiteral("Parts"));
    view.resize(600, 300);
    view.setTable(parts());
    view.show();
    view.chooseRow(0);
    QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(),
              "Part\tChange\tUsed\nlayer 10\t+50.0 [+40.0, +60.0]\tyes\n");
    EXPECT_LT(view.figureHeight(1), view.figureHeight(2));
    for (const int width : {120, 400, 1200}) {
        QImage picture(width, view.figureHeight(2), QImage::Format_RGB32);
        picture.fill(Qt::white);
        QPainter painter(&picture);
        view.paintFigure(painter, width, 2);
        painter.end();
        QSet<QRgb> colours;
        for (int x = 0; x < picture.width(); ++x)
            for (int y = 0; y < picture.height(); ++y) colours << picture.pixel(x, y);
        EXPECT_GT(colours.size(), 3) << width;
    }
}

TEST(TablesView, ShowsTheTablesOfAnyAnswerAndAsksForMaps) {
    Answer answer{
        {{"", "", {{"examples", "Examples", "", ColumnKind::Integer, {}, {}, {}, {}, {40}}}},
         parts(),
         {"hidden", "", {{"x", "", "", ColumnKind::Number, {}, {}, {}, {}, {1}}}},
         {"more", "More", {{"name", "Name", "", ColumnKind::Text, {}, {}, {}, {}, {}, {"a"}}}}}};
    TablesView view(QStringLiteral("Shares"), QStringLiteral("shares"));
    view.resize(800, 400);
    EXPECT_TRUE(view.isEmpty());
    view.showResult(answer);
    view.show();
    EXPECT_EQ(view.headText(), "examples 40");
    EXPECT_EQ(view.choice()->count(), 2);
    QSignalSpy asked(&view, &MeasureFrame::mapRequested);
    auto* table = view.table();
    const auto click = [&](int row) {
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                          table->visualRect(table->model()->index(row, 0)).center());
    };
    click(1);
    EXPECT_EQ(asked.size(), 0) << "it has no link";
    click(0);
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][1].toInt(), 1);
    EXPECT_EQ(asked[0][2].toInt(), 3);
    QTest::mouseClick(view.choice()->button(1), Qt::LeftButton);
    EXPECT_EQ(table->model()->rowCount(), 1);
    view.showResult(answer);
    EXPECT_EQ(table->table().key, "more") << "the chosen table stays";
    EXPECT_GT(view.figureSize().height(), 150);
    view.clear("Not measured.");
    EXPECT_EQ(table->model()->rowCount(), 0);
}

TEST(GridView, PassesByWhatIsNotThere) {
    GridPanel panel{"Title", "note", {"1", "2"}, {"1", "2", "3"}};
    panel.groups = {{{"first", "f"}, 1}, {{"second", "s"}, 2}};
    panel.cell = [](int row, int column) {
        return GridCell{.value = 0.5, .present = row == 1 || column != 1};
    };
    panel.text = [](int row, int column) { return QStringLiteral("%1 %2").arg(row).arg(column); };
    GridView view({.fill = [](double) { return QColor(Qt::gray); }, .beside = true}, "Grid");
    view.resize(500, 300);
    view.setPanels({panel, panel});
    view.show();
    view.setCurrent({0, 0, 0});
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.current(), (GridPlace{0, 0, 2}));
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_EQ(view.current(), (GridPlace{0, 1, 1}));
    QTest::keyClick(&view, Qt::Key_Up);
    EXPECT_EQ(view.current(), (GridPlace{0, 1, 1})) << "there is none above";
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.current().panel, 0) << "nor the first of the next panel";
    QTest::keyClick(&view, Qt::Key_PageDown);
    EXPECT_EQ(view.current(), (GridPlace{1, 1, 1}));
    EXPECT_EQ(view.text({0, 0, 1}), "");
    EXPECT_EQ(view.text({0, 1, 1}), "1 1");
    EXPECT_EQ(view.placeAt(view.cellRect({0, 0, 1}).center()), GridPlace());
    view.setPanels({});
    EXPECT_EQ(view.current(), GridPlace());
    QTest::keyClick(&view, Qt::Key_Down);
}

TEST(PlotView, IsHoveredChosenWalkedAndCopied) {
    PlotData data{{0, 10, 100, 1000},
                  {{{0.5, 0.25, std::nan(""), 1.0}, "with", false, false, {0}},
                   {{0.5, 0.5, 0.5, 0.5}, "without", true, true}}};
    data.title = "A_b";
    data.xTitle = "Step";
    data.description = "Falls and rises";
    data.text = [](int at) { return QStringLiteral("place %1").arg(at); };
    PlotView view(QStringLiteral("Plot"));
    QSignalSpy chosen(&view, &PlotView::chosen);
    view.resize(600, 300);
    view.show();
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.hoverText({300, 150}), "") << "there is nothing yet";
    view.setData(data);
    QApplication::processEvents();
    EXPECT_EQ(view.accessibleName(), "Plot");
    EXPECT_EQ(view.accessibleDescription(), "Falls and rises");
    const QPoint last = view.pixelOf(1000).toPoint();
    EXPECT_EQ(view.hoverText(last), "place 3");
    EXPECT_EQ(view.hoverText({last.x(), 3}), "") << "the title";
    EXPECT_EQ(view.hoverText({3, last.y()}), "") << "beside the plot";
    QTest::mouseClick(&view, Qt::LeftButton, {}, last);
    for (const auto key : {Qt::Key_Home, Qt::Key_Right, Qt::Key_Right, Qt::Key_Left, Qt::Key_End})
        QTest::keyClick(&view, key);
    ASSERT_EQ(chosen.size(), 6);
    for (const auto& [call, place] : {std::pair{0, 3}, {1, 0}, {2, 1}, {3, 2}, {4, 1}, {5, 3}})
        EXPECT_EQ(chosen[call][0].toInt(), place) << call;
    QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(), "place 0\nplace 1\nplace 2\nplace 3");
    const int linear = view.pixelOf(10).toPoint().x();
    view.setLogarithmic(true);
    EXPECT_GT(view.pixelOf(10).toPoint().x(), linear);
    QImage picture(600, 300, QImage::Format_RGB32);
    picture.fill(Qt::white);
    QPainter painter(&picture);
    view.paintFigure(painter, 0, picture.size());
    painter.end();
    EXPECT_NE(picture.pixel(18, 14), picture.pixel(300, 2)) << "the title is drawn";
}

}  // namespace
